import type { SettledRequest } from '../archive/requests';
import { ask } from '../link/ask';
import { LinkError, type Owner } from '../link/protocol';
import { START_LIMIT_MS } from './ownership';

/** What became of turns and the owner does not know yet: told as soon as there is one that listens. */
export class TurnReports {
  #untold: SettledRequest[] = [];

  add(report: SettledRequest): void {
    this.#untold.push(report);
  }

  /**
   * Tells all of them, oldest first. What an owner refuses to hear (an archive that was replaced knows no such turn) is
   * not told again. Rejects with what the link says; the rest is kept then.
   */
  async tell(owner: Owner): Promise<void> {
    for (let next = this.#untold[0]; next; next = this.#untold[0]) {
      const report = next;
      try {
        await ask(cancelled => owner.settled(report, cancelled), { ms: START_LIMIT_MS, what: 'the archive' });
      } catch (error) {
        if (!(error instanceof LinkError) || error.code !== 'invalid') throw error;
      }
      this.#untold.shift();
    }
  }
}
