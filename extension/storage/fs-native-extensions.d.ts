/** The part of fs-native-extensions that Strata uses; the package ships no types. */
declare module 'fs-native-extensions' {
  /**
   * Takes a lock on the open file `fd` without waiting; false when another process, or another descriptor of this
   * one, holds it. The operating system frees it when the descriptor is closed or its process dies.
   */
  export function tryLock(fd: number, offset?: number, length?: number): boolean;
}
