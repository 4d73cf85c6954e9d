import { Archive } from '../archive/archive';
import { archiveIdFor } from '../archive/canonical';
import type { Clock, JournalSource, Log } from '../archive/ports';
import type { SessionIdentity } from '../archive/requests';
import { LinkError, type Owner, type PiSide } from '../link/protocol';
import { startLinkServer, type LinkServer } from '../link/server';
import { openArchiveFolder } from '../storage/archiveFolder';
import { MemoryJournal } from '../storage/memoryJournal';
import { phaseAfter, type Phase } from './memoryPhase';
import { SessionOwner, type HeldArchive } from './sessionOwner';

export interface HostOptions {
  /** The archive root. */
  readonly root: string;
  /** Real paths of the folders whose sessions this window serves at first; later `Host.setFolders` says. */
  readonly folders: readonly string[];
  /** Whether a session's memory is on where nobody chose; asked each time an archive is opened. */
  readonly memoryDefault: () => boolean;
  readonly log: Log;
}

/** A session that this window serves. */
export interface ServedSession {
  readonly id: string;
  readonly identity: SessionIdentity;
  /** The archive's folder; absent for a session that Pi keeps no file for. */
  readonly dir?: string;
  /** Its journal, for the one reader that every view uses. */
  readonly source: JournalSource;
  readonly archive: Archive;
  readonly phase: Phase;
}

export interface Host {
  sessions(): readonly ServedSession[];
  /** Called after anything a view might show has changed; returns the function that stops it. */
  onChange(listener: () => void): () => void;
  /**
   * Serves other folders from now on (real paths). Who is connected stays connected, whatever its folder: a turn may
   * be under way. Rejects when the change cannot be published; a later call may try again.
   */
  setFolders(folders: readonly string[]): Promise<void>;
  /** Closes every connection, then every archive. */
  dispose(): Promise<void>;
}

interface Opened extends ServedSession {
  phase: Phase;
  holders: number;
  close(): Promise<void>;
}

/**
 * Serves the Pi sessions of some folders: the link server, and for each connected session the archive it owns
 * (design.md section 1). Knows nothing of VS Code, so it runs headless as well.
 */
export async function startHost(options: HostOptions): Promise<Host> {
  const host = new SessionHost(options);
  await host.start();
  return host;
}

class SessionHost implements Host {
  /** By archive id. A promise, so that two connections of one session share one opening. */
  readonly #open = new Map<string, Promise<Opened>>();
  /** Archives on their way out: the next opening waits until their lock is free. */
  readonly #closing = new Map<string, Promise<void>>();
  readonly #ready = new Map<string, Opened>();
  readonly #listeners = new Set<() => void>();
  #server: LinkServer | undefined;

  constructor(private readonly options: HostOptions) {}

  async start(): Promise<void> {
    const { root, folders, log } = this.options;
    const accept = (identity: SessionIdentity, pi: PiSide): Promise<Owner> =>
      Promise.resolve(new SessionOwner(() => this.#hold(identity), pi));
    this.#server = await startLinkServer({ root, folders, accept, log });
  }

  sessions(): readonly ServedSession[] {
    return [...this.#ready.values()];
  }
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
  async setFolders(folders: readonly string[]): Promise<void> {
    await this.#server?.setFolders(folders);
  }
  async dispose(): Promise<void> {
    await this.#server?.dispose();
    await Promise.allSettled([...this.#open.keys()].map(id => this.#close(id)));
    await Promise.allSettled(this.#closing.values());
    this.#listeners.clear();
  }

  async #hold(identity: SessionIdentity): Promise<HeldArchive> {
    const id = archiveIdFor(identity.cwd, identity.sessionId);
    await this.#closing.get(id);
    let opening = this.#open.get(id);
    if (!opening) {
      opening = this.#openSession(id, identity);
      this.#open.set(id, opening);
      opening.catch(() => this.#open.delete(id));
    }
    const opened = await opening;
    opened.holders++;
    return {
      id,
      archive: opened.archive,
      release: async () => {
        if (--opened.holders === 0) await this.#close(id);
      },
    };
  }

  async #openSession(id: string, identity: SessionIdentity): Promise<Opened> {
    const place = await this.#place(identity);
    const clock: Clock = { now: () => Date.now() };
    const { memoryDefault, log } = this.options;
    const { journal } = place;
    let archive: Archive;
    try {
      archive = await Archive.open({ journal, clock, log, memoryDefault: memoryDefault() });
      // The setting is for new sessions: an archive keeps what it began with.
      if (archive.state.commits === 0 && archive.readOnly === undefined)
        await archive.setMode(archive.memory);
    } catch (e) {
      // Else the lock would stay taken by nobody.
      await place.close();
      throw e;
    }
    const opened: Opened = {
      id,
      identity,
      ...(place.dir !== undefined && { dir: place.dir }),
      source: place.source,
      archive,
      phase: { state: 'idle' },
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
    const stop = archive.onChange(event => {
      opened.phase = phaseAfter(opened.phase, event);
      this.#changed();
    });
    this.#ready.set(id, opened);
    this.#changed();
    return opened;
  }

  async #place(identity: SessionIdentity) {
    if (identity.sessionFile === undefined) {
      const journal = new MemoryJournal();
      return { dir: undefined, journal, source: journal.source, close: () => Promise.resolve() };
    }
    const opened = await openArchiveFolder(this.options.root, identity, this.#server?.runFile);
    switch (opened.state) {
      case 'opened':
        return {
          dir: opened.dir,
          journal: opened.journal,
          source: opened.source,
          close: () => opened.close(),
        };
      case 'locked':
        throw new LinkError(
          'locked',
          `This session's archive is owned by another process${opened.by ? ` (pid ${opened.by.pid})` : ''}. ` +
            'Nothing was written. Close that window or program, then send the prompt again.',
        );
      case 'no-locks':
      case 'refused':
        throw new LinkError('archive', opened.reason);
    }
  }

  /** Takes a session off the list at once, and frees its lock as soon as what is under way has ended. */
  async #close(id: string): Promise<void> {
    const opening = this.#open.get(id);
    if (!opening) return;
    this.#open.delete(id);
    this.#ready.delete(id);
    this.#changed();
    const closing = opening
      .then(opened => opened.close())
      .catch((e: unknown) => this.options.log.error(`closing archive ${id}: ${String(e)}`))
      .finally(() => this.#closing.delete(id));
    this.#closing.set(id, closing);
    await closing;
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
