import { existsSync } from 'node:fs';
import path from 'node:path';
import type { FSWatcher } from 'chokidar';

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
  const running = new RunningWatch(paths, onChange, options);
  return { ready: running.ready, dispose: () => running.dispose() };
}

class RunningWatch {
  readonly ready: Promise<void>;
  private timer: NodeJS.Timeout | undefined;
  private disposed = false;
  private readonly watchers: FSWatcher[] = [];
  private end: () => void = () => undefined;

  constructor(
    private readonly paths: readonly string[],
    private readonly onChange: () => void,
    private readonly options: WatchOptions,
  ) {
    const ended = new Promise<void>(resolve => (this.end = resolve));
    this.ready = Promise.race([this.start().catch((e: unknown) => this.fail(e)), ended]);
  }

  async dispose(): Promise<void> {
    this.disposed = true;
    clearTimeout(this.timer);
    this.end();
    await Promise.all(this.watchers.map(w => w.close()));
  }

  private async start(): Promise<void> {
    // Loaded at the first watch: a window that shows nothing needs none.
    const { watch } = await import('chokidar');
    if (this.disposed) return;
    const open = (at: string[], depth: number, ignoreInitial: boolean, onEvent: () => void): FSWatcher => {
      const watcher = watch(at, { ignoreInitial, depth, followSymlinks: false });
      watcher.on('all', onEvent).on('error', e => this.fail(e));
      this.watchers.push(watcher);
      return watcher;
    };
    const here = this.paths.filter(p => existsSync(p));
    const missing = new Set(this.paths.filter(p => !here.includes(p)));
    const main = open(here, this.options.depth, true, () => this.changed());
    // chokidar does not see a path appear, so for a missing one the nearest folder that is there is watched, and what
    // is in it at first counts too: it may have come just before.
    const watched = new Set([...missing].map(nearest));
    const arrive = () => {
      for (const p of missing) {
        if (!existsSync(p)) {
          const parent = nearest(p);
          if (!watched.has(parent)) parents.add(parent);
          watched.add(parent);
          continue;
        }
        missing.delete(p);
        main.add(p);
        this.changed();
      }
    };
    const parents = open([...watched], 0, false, arrive);
    // A watcher of nothing is never ready.
    const busy = [...(here.length > 0 ? [main] : []), ...(missing.size > 0 ? [parents] : [])];
    await Promise.all(busy.map(w => new Promise<void>(resolve => w.once('ready', resolve))));
  }

  /** The first call of a burst starts the clock, so that a steady stream of changes can't hold it back for ever. */
  private changed(): void {
    if (this.disposed) return;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.onChange();
    }, this.options.debounceMs);
  }

  private fail(e: unknown): void {
    if (!this.disposed) this.options.onError(e instanceof Error ? e.message : String(e));
  }
}

function nearest(missing: string): string {
  let at = path.dirname(path.resolve(missing));
  while (!existsSync(at) && path.dirname(at) !== at) at = path.dirname(at);
  return at;
}
