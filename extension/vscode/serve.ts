import { HeldArchives, type OwnedArchive } from '../archive/heldArchives';
import type { Log } from '../archive/ports';
import { SessionOwner } from '../link/sessionOwner';
import { startLinkServer, type LinkServer } from '../link/server';
import { lockSupport } from '../storage/lock';
import { openSessionPlace } from '../storage/sessionPlace';
import { phaseAfter, type Phase } from './memoryPhase';

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
export interface ServedSession extends OwnedArchive {
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

/**
 * Serves the Pi sessions of some folders: the link server, and for each connected session the archive it owns
 * (design.md section 1). Knows nothing of VS Code, so it runs headless as well. Rejects with a sentence for people
 * where locks don't work: who may not write must not be found by a Pi.
 */
export async function startHost(options: HostOptions): Promise<Host> {
  const locks = await lockSupport();
  if (!locks.available) throw new Error(locks.reason);
  const host = new SessionHost(options);
  await host.start();
  return host;
}

class SessionHost implements Host {
  readonly #archives: HeldArchives;
  readonly #phases = new Map<string, Phase>();
  readonly #listeners = new Set<() => void>();
  #server: LinkServer | undefined;

  constructor(private readonly options: HostOptions) {
    const { root, memoryDefault, log } = options;
    this.#archives = new HeldArchives({
      place: identity => openSessionPlace(root, identity, this.#server?.runFile),
      memoryDefault,
      log,
    });
    this.#archives.onEvent(({ id }, event) => {
      if (event.type === 'closed') this.#phases.delete(id);
      else this.#phases.set(id, event.type === 'opened' ? IDLE : phaseAfter(this.#phaseOf(id), event));
      for (const listener of this.#listeners) listener();
    });
  }

  async start(): Promise<void> {
    const { root, folders, log } = this.options;
    this.#server = await startLinkServer({
      root,
      folders,
      accept: (identity, pi) => Promise.resolve(new SessionOwner(() => this.#archives.hold(identity), pi)),
      log,
    });
  }

  sessions(): readonly ServedSession[] {
    return this.#archives.archives.map(owned => ({ ...owned, phase: this.#phaseOf(owned.id) }));
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
    await this.#archives.close();
    this.#listeners.clear();
  }

  #phaseOf(id: string): Phase {
    return this.#phases.get(id) ?? IDLE;
  }
}

const IDLE: Phase = { state: 'idle' };
