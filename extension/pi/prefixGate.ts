/** Longest wait for somebody else's request to be taken, in milliseconds. */
const LONGEST_MS = 120_000;

/**
 * Lets the first of several requests with the same beginning go ahead: what it writes into the provider's cache can be
 * read only once it was taken, so the others would pay for it again (spec/archive.md 4.7). One that has been waited for
 * in vain holds nobody up longer than two minutes.
 */
export class PrefixGate {
  readonly #leaders = new Map<string, Promise<void>>();

  /**
   * Resolves when nobody else is about to write this beginning, with what the caller must call once its own request was
   * taken, has ended or has failed. Resolves at once when the signal aborts.
   */
  async enter(prefix: string, signal: AbortSignal): Promise<() => void> {
    const leader = this.#leaders.get(prefix);
    if (leader) {
      await settledOr(leader, signal);
      return () => {};
    }
    let open = (): void => {};
    const taken = new Promise<void>(resolve => (open = resolve));
    this.#leaders.set(prefix, taken);
    const release = (): void => {
      clearTimeout(limit);
      if (this.#leaders.get(prefix) === taken) this.#leaders.delete(prefix);
      open();
    };
    const limit = setTimeout(release, LONGEST_MS);
    limit.unref();
    return release;
  }
}

function settledOr(leader: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const done = (): void => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    signal.addEventListener('abort', done);
    void leader.then(done);
  });
}
