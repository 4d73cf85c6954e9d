import path from 'node:path';
import { archiveIdFor } from '../archive/canonical';
import type { ArchiveId } from '../archive/ids';
import { archiveDir } from '../storage/archiveFolder';
import { listArchives, type ListedArchive } from '../storage/archiveList';
import { livingHolder } from '../storage/livingHolder';
import { describeSession, listSessions, type SessionOnDisk } from '../storage/sessionsOnDisk';
import type { ServedSession } from './serve';
import { bySessionOrder, titleOf, type SessionFacts } from './sessionRows';

export interface CataloguePlaces {
  readonly agentDir: string;
  readonly sessionDirs: readonly string[];
  /** The archive root. */
  readonly root: string;
  /** Real paths of the window's folders. */
  readonly folders: readonly string[];
}

/** What a reading of the disk found, before the live sessions are laid over it. */
type OnDisk = Omit<SessionFacts, 'records'>;

/**
 * The sessions of this window: Pi's files of its folders, the archives of those folders that have no file, archives
 * that were opened here from elsewhere, and over all of it what the host serves right now.
 */
export class SessionCatalogue {
  #disk: readonly OnDisk[] = [];
  #failure: string | undefined;

  constructor(
    private readonly places: () => Promise<CataloguePlaces>,
    private readonly served: () => readonly ServedSession[],
    /** Archives that were opened by *Open Session File…*, wherever their session ran. */
    private readonly opened: () => readonly string[],
  ) {}

  /** Why the last reading failed; the sessions are those of the one before. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** What runs here first, then newest activity first. */
  get sessions(): readonly SessionFacts[] {
    const rest = new Map(this.served().map(session => [session.id, session]));
    const known = this.#disk.map(facts => {
      const live = facts.id && rest.get(facts.id);
      if (live) rest.delete(live.id);
      if (!live) return facts;
      // Pi writes its file with the first answer; until then what is on disk has no name but a path.
      return facts.file === undefined ? factsOfServed(live) : overlay(facts, live);
    });
    return [...known, ...[...rest.values()].map(factsOfServed)].sort(bySessionOrder);
  }

  session(id: string): SessionFacts | undefined {
    return this.sessions.find(facts => facts.id === id);
  }

  /** How a served session is called. */
  titleOf(session: ServedSession): string {
    return titleOf(this.session(session.id) ?? factsOfServed(session));
  }

  /** Reads Pi's files and the archives. Never rejects: `failure` says what went wrong. */
  async read(): Promise<void> {
    try {
      const places = await this.places();
      const [files, archives] = await Promise.all([listSessions(places), listArchives(places.root)]);
      this.#disk = await this.#join(places, files, archives);
      this.#failure = undefined;
    } catch (error) {
      this.#failure = `The sessions could not be read: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  async #join(
    places: CataloguePlaces,
    files: readonly SessionOnDisk[],
    archives: readonly ListedArchive[],
  ): Promise<readonly OnDisk[]> {
    const byId = new Map<string, ListedArchive>(archives.map(archive => [archive.id, archive]));
    const out = new Map<string, OnDisk>();
    for (const file of files) {
      if (file.state === 'damaged') {
        out.set(file.file, damagedFile(file));
        continue;
      }
      const id = archiveIdFor(file.cwd, file.sessionId);
      // A copy of a session's file: the newest one stands for it.
      if (out.has(id)) continue;
      out.set(id, await withArchive(fileFacts(file, id), byId.get(id)));
      byId.delete(id);
    }
    const opened = new Set(this.opened());
    for (const archive of byId.values()) {
      const ours =
        archive.state === 'ok' && places.folders.some(folder => isWithin(folder, archive.config.cwd));
      if (ours || opened.has(archive.id)) out.set(archive.id, await archiveFacts(archive, places.root));
    }
    return [...out.values()];
  }
}

function fileFacts(file: Extract<SessionOnDisk, { state: 'ok' }>, id: ArchiveId): OnDisk {
  return {
    key: id,
    id,
    state: 'closed',
    ...(file.name !== undefined && { name: file.name }),
    ...(file.firstPrompt !== undefined && { firstPrompt: file.firstPrompt }),
    cwd: file.cwd,
    file: file.file,
    fileBytes: file.bytes,
    lastActivity: file.lastActivity,
  };
}

function damagedFile(file: Extract<SessionOnDisk, { state: 'damaged' }>): OnDisk {
  return {
    key: file.file,
    state: 'damaged',
    name: path.basename(file.file),
    file: file.file,
    fileBytes: file.bytes,
    lastActivity: file.modified,
    problem: file.reason,
  };
}

async function withArchive(facts: OnDisk, archive: ListedArchive | undefined): Promise<OnDisk> {
  if (!archive) return facts;
  if (archive.state === 'damaged') return { ...facts, state: 'damaged', problem: archive.reason };
  const holder = await livingHolder(archive.dir);
  return {
    ...facts,
    journalBytes: archive.journalBytes,
    ...(holder && holder.pid !== process.pid && { state: 'attached' as const, pid: holder.pid }),
  };
}

/** An archive whose session Pi does not list here: what is known of it is in the file that it was read from. */
async function archiveFacts(archive: ListedArchive, root: string): Promise<OnDisk> {
  const { id } = archive;
  if (archive.state === 'damaged')
    return withArchive(
      { key: id, id, state: 'closed', name: archiveDir(root, id), lastActivity: 0 },
      archive,
    );
  const { sessionFile, cwd } = archive.config;
  const file = sessionFile === undefined ? undefined : await describeSession(sessionFile);
  if (file?.state === 'ok') return withArchive({ ...fileFacts(file, id), cwd }, archive);
  const name = sessionFile === undefined ? cwd : path.basename(sessionFile);
  return withArchive({ key: id, id, state: 'closed', name, cwd, lastActivity: archive.modified }, archive);
}

function overlay(facts: OnDisk, live: ServedSession): SessionFacts {
  const { archive } = live;
  return {
    ...facts,
    state: archive.readOnly === undefined ? 'running' : 'damaged',
    ...(archive.readOnly !== undefined && { problem: archive.readOnly }),
    records: archive.branch().records,
    journalBytes: facts.journalBytes ?? 0,
  };
}

/** How a session is called in which nothing was said yet. */
const NEW_SESSION = 'New session';

/** A session that Pi keeps no file of, or whose file was not read yet. */
function factsOfServed(live: ServedSession): SessionFacts {
  const branch = live.archive.branch();
  const last = branch.records > 0 ? branch.record(branch.records - 1).timestamp : Date.now();
  const prompt = live.archive.state.firstPrompt;
  const { sessionFile, cwd } = live.identity;
  const bare: OnDisk = {
    key: live.id,
    id: live.id as ArchiveId,
    state: 'running',
    cwd,
    lastActivity: last,
    ...(branch.records === 0 && { name: NEW_SESSION }),
    ...(prompt !== undefined && { firstPrompt: prompt }),
    ...(sessionFile !== undefined && { file: sessionFile }),
  };
  return overlay(bare, live);
}

function isWithin(outer: string, inner: string): boolean {
  const relative = path.relative(outer, inner);
  return relative === '' || (!path.isAbsolute(relative) && relative.split(path.sep)[0] !== '..');
}
