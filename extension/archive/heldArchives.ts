import { Archive, type ArchiveEvent } from './archive';
import { ArchiveError } from './archiveError';
import { archiveIdFor } from './canonical';
import type { Blobs, Clock, Journal, JournalSource, Log } from './ports';
import type { SessionIdentity } from './requests';

/** Where a session's archive was found or made. Reasons are sentences for people. */
export type ArchivePlace =
  | {
      readonly state: 'opened';
      /** The archive's folder; absent for a session that Pi keeps no file for. */
      readonly dir?: string;
      readonly journal: Journal;
      readonly blobs: Blobs;
      /** The same journal for readers in this process. */
      readonly source: JournalSource;
      /** The archives of sessions that this one began as. */
      readonly related?: () => Promise<readonly JournalSource[]>;
      /** Closes the journal and frees the lock. */
      close(): Promise<void>;
    }
  /** Another process owns it. */
  | { readonly state: 'locked'; readonly by?: { readonly pid: number } }
  /** This process can't take locks, so it may only read. */
  | { readonly state: 'no-locks'; readonly reason: string }
  | { readonly state: 'refused'; readonly reason: string };

export interface HeldArchivesOptions {
  /** Opens a session's archive for writing, under its lock. */
  readonly place: (identity: SessionIdentity) => Promise<ArchivePlace>;
  /** Whether a session's memory is on where nobody chose; asked each time an archive is opened. */
  readonly memoryDefault: () => boolean;
  readonly log: Log;
}

/** An archive that this process owns. */
export interface OwnedArchive {
  readonly id: string;
  readonly identity: SessionIdentity;
  readonly dir?: string;
  readonly source: JournalSource;
  readonly archive: Archive;
}

/** An archive that this process owns for as long as somebody holds it. */
export interface HeldArchive extends OwnedArchive {
  /** Lets go; the last one closes the archive and frees its lock. */
  release(): Promise<void>;
}

/** `opened` and `closed`, or what the archive itself said. */
export type HeldArchiveEvent = ArchiveEvent | { readonly type: 'opened' } | { readonly type: 'closed' };

interface Opened {
  readonly owned: OwnedArchive;
  holders: number;
  close(): Promise<void>;
}

/**
 * The archives that this process owns: opened for the first who asks, shared by all connections of a session, closed
 * when the last of them lets go (design.md section 1).
 */
export class HeldArchives {
  /** By archive id. A promise, so that two connections of one session share one opening. */
  readonly #open = new Map<string, Promise<Opened>>();
  /** Archives on their way out: the next opening waits until their lock is free. */
  readonly #closing = new Map<string, Promise<void>>();
  readonly #ready = new Map<string, OwnedArchive>();
  readonly #listeners = new Set<(archive: OwnedArchive, event: HeldArchiveEvent) => void>();

  constructor(private readonly options: HeldArchivesOptions) {}

  /** Open now. */
  get archives(): readonly OwnedArchive[] {
    return [...this.#ready.values()];
  }

  /** Stops with the function it returns. */
  onEvent(listener: (archive: OwnedArchive, event: HeldArchiveEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * The session's archive, which this process owns until it is released. Rejects with an `ArchiveError`: `locked`
   * while another process owns it, `no-locks` when this one may only read, `archive` when it can't be opened.
   */
  async hold(identity: SessionIdentity): Promise<HeldArchive> {
    const id = archiveIdFor(identity.cwd, identity.sessionId);
    await this.#closing.get(id);
    let opening = this.#open.get(id);
    if (!opening) {
      opening = this.#openArchive(id, identity);
      this.#open.set(id, opening);
      opening.catch(() => this.#open.delete(id));
    }
    const opened = await opening;
    opened.holders++;
    return {
      ...opened.owned,
      release: async () => {
        if (--opened.holders === 0) await this.#close(id);
      },
    };
  }

  /** Closes every archive, held or not. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#open.keys()].map(id => this.#close(id)));
    await Promise.allSettled(this.#closing.values());
    this.#listeners.clear();
  }

  async #openArchive(id: string, identity: SessionIdentity): Promise<Opened> {
    const place = opened(await this.options.place(identity));
    const clock: Clock = { now: () => Date.now() };
    const { memoryDefault, log } = this.options;
    const { journal, blobs, related } = place;
    let archive: Archive;
    try {
      archive = await Archive.open({
        ...{ journal, blobs, clock, log, memoryDefault: memoryDefault() },
        ...(related && { related }),
      });
      // The setting is for new sessions: an archive keeps what it began with.
      if (archive.state.commits === 0 && archive.readOnly === undefined)
        await archive.setMode(archive.memory);
    } catch (e) {
      // Else the lock would stay taken by nobody.
      await place.close();
      throw e;
    }
    const { dir, source } = place;
    const owned: OwnedArchive = { id, identity, ...(dir !== undefined && { dir }), source, archive };
    const stop = archive.onChange(event => this.#emit(owned, event));
    this.#ready.set(id, owned);
    this.#emit(owned, { type: 'opened' });
    return {
      owned,
      holders: 0,
      close: async () => {
        stop();
        try {
          await archive.close();
        } finally {
          await place.close();
        }
      },
    };
  }

  /** Takes an archive off the list at once, and frees its lock as soon as what is under way has ended. */
  async #close(id: string): Promise<void> {
    const opening = this.#open.get(id);
    if (!opening) return;
    this.#open.delete(id);
    const owned = this.#ready.get(id);
    this.#ready.delete(id);
    if (owned) this.#emit(owned, { type: 'closed' });
    const closing = opening
      .then(opened => opened.close())
      .catch((e: unknown) => this.options.log.error(`closing archive ${id}: ${String(e)}`))
      .finally(() => this.#closing.delete(id));
    this.#closing.set(id, closing);
    await closing;
  }

  #emit(archive: OwnedArchive, event: HeldArchiveEvent): void {
    for (const listener of this.#listeners) listener(archive, event);
  }
}

function opened(place: ArchivePlace): ArchivePlace & { readonly state: 'opened' } {
  switch (place.state) {
    case 'opened':
      return place;
    case 'locked':
      throw new ArchiveError(
        'locked',
        `This session's archive is owned by another process${place.by ? ` (pid ${place.by.pid})` : ''}. ` +
          'Nothing was written. Close that window or program, then send the prompt again.',
      );
    case 'no-locks':
      throw new ArchiveError('no-locks', place.reason);
    case 'refused':
      throw new ArchiveError('archive', place.reason);
  }
}
