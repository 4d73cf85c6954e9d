import { archiveIdFor } from '../archive/canonical';
import type { OpenReply, SessionIdentity } from '../archive/requests';
import { ask } from '../link/ask';
import { connectOwner } from '../link/client';
import { findServer } from '../link/discovery';
import { LinkError, type LinkErrorCode, type Owner, type PiSide } from '../link/protocol';
import { archiveDir } from '../storage/archiveFolder';
import { livingHolder } from '../storage/livingHolder';
import { ownArchive } from './ownArchive';
import { reachedBy, type Reached } from './reached';

/** `session_start`, `input` and `before_agent_start` have no signal: only this limit frees Pi. */
export const START_LIMIT_MS = 5_000;
/** How long a turn waits for another owner after it lost its own. */
export const LOSS_LIMIT_MS = 30_000;
/** A window that went away so lately is taken for one that is being reloaded. */
const RELOAD_MS = 10_000;
const PAUSE_MS = 250;

export interface Owned {
  readonly state: 'owned';
  readonly owner: Owner;
  readonly opened: OpenReply;
  readonly isNew: boolean;
}
export type Settled =
  | Owned
  /** `reason` is a sentence for people. */
  | {
      readonly state: 'none';
      readonly reason: string;
      /** Nobody may write here, as there are no locks: Pi goes on without memory. */
      readonly readOnly: boolean;
    };

export interface OwnershipOptions {
  /** The archive root. */
  readonly root: string;
  readonly identity: SessionIdentity;
  readonly pi: PiSide;
  /** Whether memory is on in an archive that this Pi makes. */
  readonly memoryDefault: () => boolean;
  /** Called when the owner has gone away; `name` is what people call it. */
  readonly lost: (name: string) => void;
}

/**
 * Who owns this session's archive (design.md section 1): the holder of its lock, if it answers; else the window whose
 * folder holds the session's cwd most closely; else this Pi. Settled between turns; what Pi owns stays Pi's.
 */
export class Ownership {
  #reached: Reached | undefined;
  #closed = false;
  #settling: Promise<Settled> | undefined;
  #absence: string | undefined;
  /** When a window that was the owner went away, in milliseconds since 1970. */
  #windowLeft = -Infinity;

  constructor(private readonly options: OwnershipOptions) {}

  /** The owner last settled, as long as it is connected. */
  get owner(): Owner | undefined {
    return this.#reached?.owner;
  }

  /** Why the last attempt found no owner, in a sentence for people. Undefined while there is one, or was until it left. */
  get absence(): string | undefined {
    return this.#absence;
  }

  /**
   * Asks the present owner, or settles on one, which is this Pi only where it may be: at most 5 s for others to answer,
   * and 5 s to open the archive here. Called between turns only. Never rejects.
   */
  settle(mayOwn = true): Promise<Settled> {
    // A command may ask while the session still starts: one connection is enough.
    this.#settling ??= this.#known()
      .then(known => known ?? this.#findOrAwait())
      .then(found => found ?? (mayOwn ? this.#ownIt() : NOBODY_YET))
      .catch(notOwned)
      .then(settled => {
        this.#absence = settled.state === 'none' ? settled.reason : undefined;
        return settled;
      })
      .finally(() => (this.#settling = undefined));
    return this.#settling;
  }

  /**
   * Inside a turn that lost its owner: waits at most 30 s for another one. This Pi does not become it, since a window
   * that is being reloaded is back in seconds. Rejects with a `LinkError`: `lost` when nobody came, `archive`, or
   * `cancelled`.
   */
  async regain(signal: AbortSignal | undefined): Promise<Owned> {
    const end = Date.now() + LOSS_LIMIT_MS;
    let reason = '';
    while (Date.now() < end) {
      try {
        const found = (await this.#known(signal)) ?? (await this.#find(Math.min(end, soon()), signal));
        if (found) return found;
      } catch (error) {
        if (isCode(error, 'archive') || isCode(error, 'cancelled') || this.#closed) throw error;
        reason = ` ${reasonOf(error)}`;
      }
      await pause(signal);
    }
    throw new LinkError(
      'lost',
      `VS Code, which keeps the memory of this session, went away and was not back within ${LOSS_LIMIT_MS / 1000} s.${reason}`,
    );
  }

  /**
   * Between turns: a process that owns the archive, or takes it now. This Pi does not become the owner, since only a
   * prompt needs one. Rejects with a `LinkError`.
   */
  async seek(signal: AbortSignal): Promise<Owned | undefined> {
    return this.#find(soon(), signal);
  }

  /** Lets go of the owner; frees the archive's lock where that is this Pi. */
  async dispose(): Promise<void> {
    this.#closed = true;
    const reached = this.#reached;
    this.#reached = undefined;
    await reached?.dispose();
  }

  /** The owner there is, if it still answers; undefined when it is gone. */
  async #known(signal?: AbortSignal): Promise<Owned | undefined> {
    const reached = this.#reached;
    if (!reached) return undefined;
    const end = soon();
    try {
      return await this.#open(reached, end, signal);
    } catch (error) {
      // A window that was reloaded leaves its connection behind; the new one may be there already.
      if (!isCode(error, 'lost') || reached.own) throw error;
      this.#drop(reached);
      if (Date.now() < end) return undefined;
      throw new LinkError('lost', `${capital(reached.name)} does not answer. ${whatToDo(reached.name)}`);
    }
  }

  /** Another process; the window that was the owner until a moment ago gets the time it takes to be reloaded. */
  async #findOrAwait(): Promise<Owned | undefined> {
    const end = soon();
    for (;;) {
      const found = await this.#find(end);
      if (found || Date.now() + PAUSE_MS >= Math.min(end, this.#windowLeft + RELOAD_MS)) return found;
      await pause(undefined);
    }
  }

  /** Another process that owns the archive, or takes it now; undefined when there is none. */
  async #find(end: number, signal?: AbortSignal): Promise<Owned | undefined> {
    const held = await this.#askHolder(end, signal);
    if (held) return held;
    let host: Reached;
    try {
      host = reachedBy(await connectOwner({ ...this.#session(), timeoutMs: left(end), signal }));
    } catch (error) {
      if (isCode(error, 'lost')) return undefined;
      throw error;
    }
    try {
      return await this.#open(host, end, signal);
    } catch (error) {
      if (isCode(error, 'no-locks')) return undefined;
      return this.#heldElsewhere(error, signal);
    }
  }

  /** This Pi, with the same engine in its own process. */
  async #ownIt(): Promise<Settled> {
    const own = await ownArchive(this.options);
    try {
      return await this.#open(own, soon());
    } catch (error) {
      return this.#heldElsewhere(error);
    }
  }

  /** Who was asked found the lock taken: its holder is the owner. */
  async #heldElsewhere(error: unknown, signal?: AbortSignal): Promise<Owned> {
    const held = isCode(error, 'locked') ? await this.#askHolder(soon(), signal) : undefined;
    if (held) return held;
    throw error;
  }

  /**
   * The process that the archive's lock names. Undefined when there is none, or none that can be asked; whoever then
   * tries to take the lock finds out whether it is still held. Rejects when it lives and does not answer: a lock that
   * is held is never taken over.
   */
  async #askHolder(end: number, signal?: AbortSignal): Promise<Owned | undefined> {
    const { root, identity } = this.options;
    if (identity.sessionFile === undefined) return undefined;
    const holder = await livingHolder(archiveDir(root, archiveIdFor(identity.cwd, identity.sessionId)));
    const only = holder?.runFile === undefined ? undefined : await findServer(root, holder.runFile);
    if (!only || only.record.pid === process.pid) return undefined;
    try {
      const link = await connectOwner({ ...this.#session(), only, timeoutMs: left(end), signal });
      return await this.#open(reachedBy(link), end, signal);
    } catch (error) {
      if (!isCode(error, 'lost')) throw error;
      if (Date.now() < end) return undefined;
      throw new LinkError(
        'lost',
        `Process ${only.record.pid} owns the archive of this session and does not answer. What it stored is safe. ` +
          whatToDo(only.record.kind === 'host' ? WINDOW : 'Pi'),
      );
    }
  }

  /** Opens the session's archive there, and keeps that owner. */
  async #open(reached: Reached, end: number, signal?: AbortSignal): Promise<Owned> {
    const isNew = reached !== this.#reached;
    if (isNew) {
      if (this.#closed) {
        await reached.dispose();
        throw new LinkError('cancelled', 'This session has ended.');
      }
      this.#reached = reached;
      void reached.closed.then(() => this.#drop(reached));
    }
    try {
      const opened = await ask(reached.owner.open(), {
        ms: left(end),
        signal,
        what: 'the memory of this session',
      });
      return { state: 'owned', owner: reached.owner, opened, isNew };
    } catch (error) {
      // Who answered no owns nothing, and nobody must take it for the owner. Who is still reading a long archive is
      // kept: to leave would make it start again.
      if (!isCode(error, 'lost')) {
        if (this.#reached === reached) this.#reached = undefined;
        await reached.dispose();
      }
      throw error;
    }
  }

  #session() {
    const { root, identity, pi } = this.options;
    return { root, session: identity, pi };
  }

  #drop(reached: Reached): void {
    void reached.dispose();
    if (this.#reached !== reached) return;
    this.#reached = undefined;
    if (reached.name === WINDOW) this.#windowLeft = Date.now();
    if (!this.#closed) this.options.lost(reached.name);
  }
}

const NOBODY_YET: Settled = {
  state: 'none',
  reason: 'No VS Code window serves this session yet. The next prompt goes on without one.',
  readOnly: false,
};
/** What a host calls itself. */
const WINDOW = 'VS Code';
const soon = () => Date.now() + START_LIMIT_MS;
const left = (end: number) => Math.max(1, end - Date.now());

/** Between two looks for an owner. Rejects with `cancelled` when the signal fires. */
async function pause(signal: AbortSignal | undefined): Promise<void> {
  const passed = new Promise<void>(resolve => setTimeout(resolve, PAUSE_MS));
  await ask(passed, { ms: 2 * PAUSE_MS, signal, what: 'VS Code' });
}

function isCode(error: unknown, code: LinkErrorCode): boolean {
  return error instanceof LinkError && error.code === code;
}

function whatToDo(name: string): string {
  return name === WINDOW ? 'Reload its window.' : 'End that Pi.';
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Why there is no owner now. */
export function notOwned(error: unknown): Settled & { readonly state: 'none' } {
  return { state: 'none', reason: reasonOf(error), readOnly: isCode(error, 'no-locks') };
}

/** What an error says to people, in one line. */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/\s+/g, ' ').trim() || 'something failed without a word';
}
