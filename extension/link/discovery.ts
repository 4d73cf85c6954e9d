import { randomBytes } from 'node:crypto';
import { constants, promises as fs } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { SessionId } from '../archive/ids';
import { foreign, isAlive, isDeaf, ownFolder, sweepSockets, windows } from './discoveryEndpoint';
import { count, fields, hex, list, name, text } from './fields';

/** What a process that serves sessions says of itself in `<archive root>/run/` (design.md section 6). */
interface ServerRecord {
  readonly pid: number;
  readonly bootId: string;
  /** Name of the machine. */
  readonly host: string;
  readonly socket: string;
  /** 64 hex digits, new at each start. Whoever can read this file may connect. */
  readonly token: string;
  /** Protocol version. */
  readonly version: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}
/** A window: it serves the sessions of its folders, real paths. */
export interface HostRecord extends ServerRecord {
  readonly kind: 'host';
  readonly folders: readonly string[];
}
/** A Pi that owns its session's archive: it serves the other Pis of that session. The archive's lock leads to it. */
export interface PiRecord extends ServerRecord {
  readonly kind: 'pi';
  readonly session: OneSession;
}
export type RunRecord = HostRecord | PiRecord;
export interface OneSession {
  readonly sessionId: SessionId;
  /** Real path. */
  readonly cwd: string;
}
/** Where an owner may be asked. */
export interface FoundHost {
  readonly file: string;
  readonly record: RunRecord;
}

const RUN_FILE = /^(?:host|pi)-\d+-[0-9a-f]+\.json$/;
const MAX_RECORD_BYTES = 256 * 1024;

/** The folder of run files. */
export function runFolder(root: string): string {
  return path.join(root, 'run');
}

let boot: Promise<string> | undefined;
/** As in a lock's holder: names this start of this machine, so that files from before a restart count for nothing. */
function bootId(): Promise<string> {
  boot ??= fs.readFile('/proc/sys/kernel/random/boot_id', 'utf8').then(
    t => t.trim(),
    () => `t${Math.round(Date.now() / 1000 - os.uptime())}`,
  );
  return boot;
}

/** Boot times that had to be computed differ by rounding, and by corrections of the clock. */
function sameBoot(a: string, b: string): boolean {
  if (a === b) return true;
  const [x, y] = [a, b].map(t => (/^t\d+$/.test(t) ? Number(t.slice(1)) : NaN));
  return Math.abs((x ?? NaN) - (y ?? NaN)) <= 120;
}

/** This process as one that serves; `folders` may be links, their real paths are published. */
export async function describeServer(
  socket: string,
  token: string,
  serves: { readonly folders: readonly string[] } | { readonly session: OneSession },
  version: number,
): Promise<RunRecord> {
  const record = {
    pid: process.pid,
    bootId: await bootId(),
    host: os.hostname(),
    socket,
    token,
    version,
    startedAt: Date.now(),
  };
  if ('folders' in serves) return { kind: 'host', ...record, folders: await realPaths(serves.folders) };
  const { sessionId, cwd } = serves.session;
  return { kind: 'pi', ...record, session: { sessionId, cwd } };
}

/** Real paths, in order; a folder that is gone keeps its name. */
export async function realPaths(folders: readonly string[]): Promise<readonly string[]> {
  return Promise.all(folders.map(f => fs.realpath(f).catch(() => path.resolve(f))));
}

/** A run file's path for this process; it doesn't exist yet. */
export function newRunFile(root: string, kind: RunRecord['kind']): string {
  return path.join(runFolder(root), `${kind}-${process.pid}-${randomBytes(4).toString('hex')}.json`);
}

/** Writes the run file as a whole, mode 0600, into a folder of mode 0700. Throws when that folder isn't safe. */
export async function publish(file: string, record: RunRecord): Promise<void> {
  await ownFolder(path.dirname(file), 0o022);
  const temporary = `${file}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    const handle = await fs.open(temporary, 'wx', 0o600);
    try {
      if (!windows) await handle.chmod(0o600);
      await handle.writeFile(JSON.stringify(record));
    } finally {
      await handle.close();
    }
    await fs.rename(temporary, file);
  } catch (e) {
    await fs.rm(temporary, { force: true });
    throw e;
  }
}

export async function withdraw(file: string): Promise<void> {
  await fs.rm(file, { force: true });
}

/**
 * Removes what dead processes of this user left behind on this machine: run files and sockets whose process is gone or
 * from before the last start, and where nobody answers. Never throws.
 */
export async function sweep(root: string): Promise<void> {
  for (const { file, record } of await readRecords(root)) {
    if (record.host !== os.hostname() || (await mayLive(record))) continue;
    if (await isDeaf(record.socket)) await withdraw(file).catch(() => undefined);
  }
  await sweepSockets();
}

/**
 * The living hosts whose folders hold `cwd` (a real path), the innermost folder first and of equals the newest. That
 * a process lives doesn't mean it answers: try them in order.
 */
export async function findHosts(root: string, cwd: string): Promise<readonly FoundHost[]> {
  const found: { host: FoundHost; depth: number }[] = [];
  for (const { file, record } of await readRecords(root)) {
    if (record.kind !== 'host') continue;
    const depth = Math.max(...record.folders.map(f => (isWithin(f, cwd) ? f.length : -1)), -1);
    if (depth >= 0 && (await isReachable(record))) found.push({ host: { file, record }, depth });
  }
  found.sort((a, b) => b.depth - a.depth || b.host.record.startedAt - a.host.record.startedAt);
  return found.map(f => f.host);
}

/** The living process of a run file that an archive's lock names; undefined when there is none to ask. */
export async function findServer(root: string, file: string): Promise<FoundHost | undefined> {
  const base = path.basename(file);
  if (!RUN_FILE.test(base)) return undefined;
  // In our own folder of run files, whatever the lock says: its text is no reason to read a file elsewhere.
  const own = path.join(runFolder(root), base);
  const record = await readRecord(own).catch(() => undefined);
  return record && (await isReachable(record)) ? { file: own, record } : undefined;
}

/** Whether `inner` is `outer` or lies in it. Both are real paths; `/a/bc` doesn't lie in `/a/b`. */
export function isWithin(outer: string, inner: string): boolean {
  const relative = path.relative(outer, inner);
  return (
    relative === '' ||
    (relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative))
  );
}

/** Run files that are whole, ours and private; everything else in the folder is ignored. */
async function readRecords(root: string): Promise<readonly FoundHost[]> {
  const folder = runFolder(root);
  const found: FoundHost[] = [];
  for (const file of await fs.readdir(folder).catch(() => []))
    if (RUN_FILE.test(file)) {
      const record = await readRecord(path.join(folder, file)).catch(() => undefined);
      if (record) found.push({ file: path.join(folder, file), record });
    }
  return found;
}

async function readRecord(file: string): Promise<RunRecord | undefined> {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const handle = await fs.open(file, flags);
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > MAX_RECORD_BYTES || foreign(stats, 0o077)) return undefined;
    return parseRecord(JSON.parse(await handle.readFile('utf8')));
  } finally {
    await handle.close();
  }
}

function parseRecord(value: unknown): RunRecord | undefined {
  const v = fields(value);
  const pid = count(v?.['pid']);
  const bootId = name(v?.['bootId'], 128);
  const host = text(v?.['host'], 256);
  const socket = name(v?.['socket'], 256);
  const token = hex(v?.['token'], 64);
  const version = count(v?.['version']);
  const startedAt = count(v?.['startedAt']);
  if (!pid || bootId === undefined || host === undefined || socket === undefined || token === undefined)
    return undefined;
  if (version === undefined || startedAt === undefined || !path.isAbsolute(socket)) return undefined;
  const record = { pid, bootId, host, socket, token, version, startedAt };
  if (v?.['kind'] === 'host') {
    const folders = list(v['folders'], 1000, f => name(f, 4096));
    return folders && { kind: 'host', ...record, folders };
  }
  if (v?.['kind'] !== 'pi') return undefined;
  const session = fields(v['session']);
  const sessionId = text(session?.['sessionId'], 1024);
  const cwd = name(session?.['cwd'], 4096);
  if (sessionId === undefined || cwd === undefined) return undefined;
  return { kind: 'pi', ...record, session: { sessionId: sessionId as SessionId, cwd } };
}

async function isReachable(record: RunRecord): Promise<boolean> {
  return record.host === os.hostname() && (await mayLive(record));
}

async function mayLive(record: RunRecord): Promise<boolean> {
  return sameBoot(record.bootId, await bootId()) && isAlive(record.pid);
}
