import type { OpenReply, SessionIdentity } from '../archive/requests';
import { ask } from '../link/ask';
import { connectOwner, type OwnerLink } from '../link/client';
import { LinkError, type PiSide } from '../link/protocol';

/** `session_start`, `input` and `before_agent_start` have no signal: only this limit frees Pi. */
export const START_LIMIT_MS = 5_000;

export type Settled =
  | {
      readonly state: 'owned';
      readonly owner: OwnerLink;
      readonly opened: OpenReply;
      readonly isNew: boolean;
    }
  /** `reason` is a sentence for people. */
  | { readonly state: 'none'; readonly reason: string };

/** The owner of this session's archive, as this Pi knows it: a window that serves its folder, or nobody. */
export class Ownership {
  #link: OwnerLink | undefined;
  #closed = false;
  #settling: Promise<Settled> | undefined;

  /** `lost` is called when the owner's end of the connection goes away. */
  constructor(
    private readonly root: string,
    private readonly identity: SessionIdentity,
    private readonly pi: PiSide,
    private readonly lost: () => void,
  ) {}

  /** The owner last settled, as long as it is connected. */
  get owner(): OwnerLink | undefined {
    return this.#link;
  }

  /** Asks the present owner, or finds one, within 5 s in all. Called between turns only. Never rejects. */
  settle(): Promise<Settled> {
    // A command may ask while the session still starts: one connection is enough.
    this.#settling ??= this.#settle().finally(() => (this.#settling = undefined));
    return this.#settling;
  }

  async #settle(): Promise<Settled> {
    const end = Date.now() + START_LIMIT_MS;
    const left = () => Math.max(1, end - Date.now());
    try {
      const known = this.#link;
      if (known) {
        try {
          const opened = await ask(known.open(), { ms: left(), what: 'the memory of this session' });
          return { state: 'owned', owner: known, opened, isNew: false };
        } catch (error) {
          // A window that was reloaded leaves its connection behind; the new one may be there already.
          if (!(error instanceof LinkError && error.code === 'lost')) throw error;
          this.#drop(known);
          if (Date.now() >= end) throw new LinkError('lost', 'VS Code does not answer. Reload its window.');
        }
      }
      const owner = await connectOwner({
        root: this.root,
        session: this.identity,
        pi: this.pi,
        timeoutMs: left(),
      });
      if (this.#closed) {
        owner.dispose();
        return notOwned(new LinkError('cancelled', 'This session has ended.'));
      }
      this.#link = owner;
      owner.closed.then(
        () => this.#drop(owner),
        () => this.#drop(owner),
      );
      const opened = await ask(owner.open(), { ms: left(), what: 'the memory of this session' });
      return { state: 'owned', owner, opened, isNew: true };
    } catch (error) {
      return notOwned(error);
    }
  }

  dispose(): void {
    this.#closed = true;
    const link = this.#link;
    this.#link = undefined;
    link?.dispose();
  }

  #drop(link: OwnerLink): void {
    link.dispose();
    if (this.#link !== link) return;
    this.#link = undefined;
    if (!this.#closed) this.lost();
  }
}

/** Why there is no owner now. */
export function notOwned(error: unknown): Settled & { readonly state: 'none' } {
  return { state: 'none', reason: reasonOf(error) };
}

/** What an error says to people, in one line. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\s+/g, ' ').trim() || 'something failed without a word';
}
