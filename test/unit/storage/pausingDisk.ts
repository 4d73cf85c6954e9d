import { nodeDisk, type Disk } from '../../../extension/storage/disk';

/** Where in a commit its writer stops. */
export const POINTS = [
  'before its write',
  'between its write and its fdatasync',
  'after its fdatasync, before it is acknowledged',
] as const;
export type Point = (typeof POINTS)[number];

/**
 * The real disk, but for the one write that `isCommit` knows: at `point` of that commit it calls `reached` and never
 * goes on, so that its process can be killed there.
 */
export function pausingDisk(point: Point, isCommit: (bytes: Buffer) => boolean, reached: () => void): Disk {
  const stop = (): Promise<never> => {
    reached();
    return new Promise(() => {});
  };
  return {
    ...nodeDisk,
    open: async (name, mode) => {
      const file = await nodeDisk.open(name, mode);
      let written = false;
      return {
        size: () => file.size(),
        read: (into, at) => file.read(into, at),
        truncate: size => file.truncate(size),
        sync: () => file.sync(),
        close: () => file.close(),
        write: async (bytes, at) => {
          written = isCommit(Buffer.from(bytes));
          if (written && point === 'before its write') return stop();
          return file.write(bytes, at);
        },
        datasync: async () => {
          if (written && point === 'between its write and its fdatasync') return stop();
          await file.datasync();
          if (written) return stop();
        },
      };
    },
  };
}
