/**
 * Runs a piece of work soon after it was asked for, never twice at once and never more often than every
 * `intervalMs`: a burst of journal commits becomes one refresh of a view. While paused, one run is owed at most.
 */
export class Coalescer {
  #timer: NodeJS.Timeout | undefined;
  #running = false;
  #wanted = false;
  #paused = false;
  #disposed = false;
  #last = -Infinity;

  /** `work` must not reject: it shows its own errors where they belong. */
  constructor(
    private readonly work: () => Promise<void>,
    private readonly intervalMs = 100,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Asks for a run; its result covers everything that happened before this call. */
  request(): void {
    this.#wanted = true;
    this.#plan();
  }

  /** A hidden view asks for nothing; shown again, it catches up if it missed something. */
  set paused(paused: boolean) {
    this.#paused = paused;
    this.#plan();
  }

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#timer);
  }

  #plan(): void {
    if (!this.#wanted || this.#paused || this.#running || this.#disposed || this.#timer) return;
    const wait = Math.max(0, this.#last + this.intervalMs - this.now());
    this.#timer = setTimeout(() => void this.#run(), wait);
  }

  async #run(): Promise<void> {
    this.#timer = undefined;
    if (this.#paused || this.#disposed) return;
    this.#wanted = false;
    this.#running = true;
    this.#last = this.now();
    try {
      await this.work();
    } finally {
      this.#running = false;
      this.#plan();
    }
  }
}
