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
  #absence: string | undefined;

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

  /** Why the last attempt found no owner, in a sentence for people. Undefined while there is one, or was until it left. */
  get absence(): string | undefined {
    return this.#absence;
  }

  /** Asks the present owner, or finds one, within 5 s in all. Called between turns only. Never rejects. */
  settle(): Promise<Settled> {
    // A command may ask while the session still starts: one connection is enough.
    this.#settling ??= this.#settle()
      .then(settled => {
        this.#absence = settled.state === 'none' ? settled.reason : undefined;
        return settled;
      })
      .finally(() => (this.#settling = undefined));
    return this.#settling;
  }

  async #settle(): Promise<Settled> {
    const end = Date.now() + START_LIMIT_MS;
    const left = () => Math.max(1, end - Date.now());
    try {
      const known = this.#link;
      if (known) {
        try {
          const opened = await this.#open(known, left());
          return { state: 'owned', owner: known, opened, isNew: false };
        } catch (error) {
          // A window that was reloaded leaves its connection behind; the new one may be there already.
          if (!isLost(error)) throw error;
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
      const opened = await this.#open(owner, left());
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

  async #open(link: OwnerLink, ms: number): Promise<OpenReply> {
    try {
      return await ask(link.open(), { ms, what: 'the memory of this session' });
    } catch (error) {
      // Who answered no owns nothing, and nobody must take it for the owner. Who is still reading a long archive is
      // kept: to leave would make it start again.
      if (!isLost(error)) {
        if (this.#link === link) this.#link = undefined;
        link.dispose();
      }
      throw error;
    }
  }

  #drop(link: OwnerLink): void {
    link.dispose();
    if (this.#link !== link) return;
    this.#link = undefined;
    if (!this.#closed) this.lost();
  }
}

/** Nobody answered, or not in time. */
function isLost(error: unknown): boolean {
  return error instanceof LinkError && error.code === 'lost';
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
