/** Runs asynchronous steps one at a time, in the order they were asked for. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `step` when every earlier one has ended, whether well or not. Settles as `step` does. */
  run<T>(step: () => Promise<T>): Promise<T> {
    const next = this.#last.then(step, step);
    this.#last = next.catch(() => undefined);
    return next;
  }

  /** Resolves when what was asked for so far has ended. */
  async idle(): Promise<void> {
    await this.#last;
  }
}

/** Lets everything else that waits run first. */
export function turn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve));
}
