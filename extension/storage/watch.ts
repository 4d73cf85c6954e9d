/** A running watch. `ready` resolves once changes are seen, or never will be; `dispose` when no call follows any more. */
export interface Watch {
  readonly ready: Promise<void>;
  dispose(): Promise<void>;
}
export interface WatchOptions {
  /** Changes closer together than this many milliseconds are one call. */
  readonly debounceMs: number;
  /** How many levels of folders below each path are watched. */
  readonly depth: number;
  /** The watch itself failed; what it would have told is unknown from now on. */
  onError(reason: string): void;
}

/**
 * Calls `onChange` after something below `paths` has changed, once for a burst. A hint to look again, never a source
 * of truth: watchers miss events on network drives and in containers. A path need not exist yet.
 */
export function watchPaths(paths: readonly string[], onChange: () => void, options: WatchOptions): Watch {
  let timer: NodeJS.Timeout | undefined;
  let disposed = false;
  const changed = () => {
    // The first call of a burst starts the clock, so that a steady stream of changes can't hold it back for ever.
    timer ??= setTimeout(() => {
      timer = undefined;
      if (!disposed) onChange();
    }, options.debounceMs);
  };
  const fail = (e: unknown) => {
    if (!disposed) options.onError(e instanceof Error ? e.message : String(e));
  };
  // Loaded at the first watch: a window that shows nothing needs none.
  const watcher = import('chokidar').then(({ watch }) => {
    const running = watch([...paths], { ignoreInitial: true, depth: options.depth, followSymlinks: false });
    running.on('all', changed).on('error', fail);
    return running;
  });
  let end: (() => void) | undefined;
  const ready = new Promise<void>(resolve => {
    end = resolve;
    watcher
      .then(running => running.once('ready', resolve))
      .catch((e: unknown) => {
        fail(e);
        resolve();
      });
  });
  return {
    ready,
    dispose: async () => {
      disposed = true;
      end?.();
      clearTimeout(timer);
      await watcher.then(running => running.close()).catch(() => undefined);
    },
  };
}
