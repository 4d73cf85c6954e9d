import { setTimeout } from 'node:timers/promises';

/** A window that is reloaded is back within seconds: looked for every second for that long, then rarely. */
const EAGER_MS = 60_000;
const EAGER_PAUSE_MS = 1_000;
const PATIENT_PAUSE_MS = 10_000;

/**
 * Looks for an owner between turns, after the last one went away, so that a window shows an idle session again without
 * a prompt. Keeps nobody's process alive.
 */
export class OwnerSearch {
  #stop: AbortController | undefined;
  #running: Promise<void> = Promise.resolve();

  /** `look` tries once and says whether the search is over; the signal ends it early. It never rejects. */
  constructor(private readonly look: (signal: AbortSignal) => Promise<boolean>) {}

  /** Starts looking; nothing when it is under way already. */
  start(): void {
    if (this.#stop) return;
    const stop = new AbortController();
    this.#stop = stop;
    this.#running = this.#search(stop.signal).finally(() => {
      if (this.#stop === stop) this.#stop = undefined;
    });
  }

  /** Ends the search. Resolves when nothing of it is under way any more. */
  async stop(): Promise<void> {
    this.#stop?.abort();
    this.#stop = undefined;
    await this.#running;
  }

  async #search(signal: AbortSignal): Promise<void> {
    const begun = Date.now();
    for (;;) {
      await pause(Date.now() - begun < EAGER_MS ? EAGER_PAUSE_MS : PATIENT_PAUSE_MS, signal);
      if (signal.aborted || (await this.look(signal))) return;
    }
  }
}

/** Resolves early when the signal fires. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return setTimeout(ms, undefined, { signal, ref: false }).catch(() => undefined);
}
