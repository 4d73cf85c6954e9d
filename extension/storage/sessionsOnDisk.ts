import { constants, promises as fs } from 'node:fs';
import path from 'node:path';
import type { SessionId } from '../archive/ids';
import { reasonOf } from './journalError';
import { readHeader, summarise } from './sessionEnds';

/** A session file of Pi's, from its header, its first and last 64 KiB and the file's facts. */
export type SessionOnDisk = {
  readonly file: string;
  readonly bytes: number;
  /** Milliseconds since 1970 of the last write. */
  readonly modified: number;
} & (
  | {
      readonly state: 'ok';
      readonly sessionId: SessionId;
      /** Real path of the header's cwd; as written there when that folder is gone. */
      readonly cwd: string;
      /** Pi's format, 1 to 3 so far. */
      readonly format: number;
      /** Milliseconds since 1970, 0 when the header has no time. */
      readonly created: number;
      readonly parentSession?: string;
      /** The newest name given in Pi, when it stands in what was read. */
      readonly name?: string;
      readonly firstPrompt?: string;
      /** Milliseconds since 1970 of the last entry, else of the last write. */
      readonly lastActivity: number;
    }
  /** Pi would not open it either. `reason` is a sentence for people. */
  | { readonly state: 'damaged'; readonly reason: string }
);

export interface SessionPlaces {
  /** Pi's own folder; sessions lie in `sessions/--<cwd>--/` below it. */
  readonly agentDir: string;
  /** Other folders with session files, in them or one level down. */
  readonly sessionDirs?: readonly string[];
  /** Real paths: sessions whose cwd is one of these or lies in one. */
  readonly folders: readonly string[];
}

const AT_ONCE = 16;

/**
 * Lists Pi's session files that belong to some folders, newest activity first. A session belongs where its header
 * says: the folder it lies in is ambiguous (spec/pi.md 3.1) and only decides about files without a header. Reads
 * only; what can't be read is listed as damaged.
 */
export async function listSessions(places: SessionPlaces): Promise<readonly SessionOnDisk[]> {
  const files = new Map<string, boolean>();
  for (const dir of [path.join(places.agentDir, 'sessions'), ...(places.sessionDirs ?? [])])
    for (const { file, flat } of await sessionFiles(dir))
      files.set(
        file,
        flat || places.folders.some(f => path.basename(path.dirname(file)) === piFolderName(f)),
      );
  const real = new Map<string, Promise<string>>();
  const found: SessionOnDisk[] = [];
  const all = [...files];
  for (let i = 0; i < all.length; i += AT_ONCE) {
    const batch = all.slice(i, i + AT_ONCE).map(([file, ours]) => look(file, ours, places.folders, real));
    for (const session of await Promise.all(batch)) if (session) found.push(session);
  }
  return found.sort((a, b) => activity(b) - activity(a));
}

/** What a list shows of one session file, wherever it lies and ran; undefined when it is no file. */
export function describeSession(file: string): Promise<SessionOnDisk | undefined> {
  return look(file, true, [path.parse(file).root], new Map());
}

function activity(session: SessionOnDisk): number {
  return session.state === 'ok' ? session.lastActivity : session.modified;
}

/** How Pi names the folder of a cwd's sessions. Two cwds can share a name. */
function piFolderName(cwd: string): string {
  return `--${cwd.replace(/^[/\\]/, '').replace(/[/\\:]/g, '-')}--`;
}

async function sessionFiles(dir: string): Promise<readonly { file: string; flat: boolean }[]> {
  const found: { file: string; flat: boolean }[] = [];
  for (const entry of await fs.readdir(dir, { withFileTypes: true }).catch(() => [])) {
    const inside = path.join(dir, entry.name);
    if (entry.name.endsWith('.jsonl')) found.push({ file: inside, flat: true });
    else if (entry.isDirectory())
      for (const name of await fs.readdir(inside).catch(() => []))
        if (name.endsWith('.jsonl')) found.push({ file: path.join(inside, name), flat: false });
  }
  return found;
}

/** `ours`: whether a file without a usable header belongs here. */
async function look(
  file: string,
  ours: boolean,
  folders: readonly string[],
  real: Map<string, Promise<string>>,
): Promise<SessionOnDisk | undefined> {
  let facts = { file, bytes: 0, modified: 0 };
  try {
    // Without O_NONBLOCK a FIFO of that name would hold us for ever.
    const handle = await fs.open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return undefined;
      facts = { file, bytes: stats.size, modified: stats.mtimeMs };
      const header = await readHeader(handle);
      if (header.state === 'bad')
        return ours ? { ...facts, state: 'damaged', reason: header.reason } : undefined;
      const cwd = await realCwd(header.cwd, real);
      if (!folders.some(f => isWithin(f, cwd))) return undefined;
      const { lastEntry, ...summary } = await summarise(handle, stats.size);
      const { state: _, ...named } = header;
      return { ...facts, state: 'ok', ...named, ...summary, cwd, lastActivity: lastEntry ?? stats.mtimeMs };
    } finally {
      await handle.close();
    }
  } catch (e) {
    return ours ? { ...facts, state: 'damaged', reason: `${file} can't be read: ${reasonOf(e)}` } : undefined;
  }
}

/** Many sessions share a cwd, and asking the disk for each takes as long as reading it. */
function realCwd(cwd: string, known: Map<string, Promise<string>>): Promise<string> {
  let real = known.get(cwd);
  if (real === undefined) {
    real = fs.realpath(cwd).catch(() => path.resolve(cwd));
    known.set(cwd, real);
  }
  return real;
}

/** `/a/bc` doesn't lie in `/a/b`. */
function isWithin(outer: string, inner: string): boolean {
  const relative = path.relative(outer, inner);
  return (
    relative === '' ||
    (relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative))
  );
}
