import { randomBytes } from 'node:crypto';
import { constants, promises as fs, type Stats } from 'node:fs';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { count, fields, hex, list, name, text } from './fields';

/** What a host says of itself in `<archive root>/run/`, for the Pis that look for it (design.md section 6). */
export interface HostRecord {
  readonly kind: 'host';
  readonly pid: number;
  readonly bootId: string;
  /** Name of the machine. */
  readonly host: string;
  readonly socket: string;
  /** 64 hex digits, new at each start. Whoever can read this file may connect. */
  readonly token: string;
  /** Real paths. */
  readonly folders: readonly string[];
  /** Protocol version. */
  readonly version: number;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}
export interface FoundHost {
  readonly file: string;
  readonly record: HostRecord;
}

/** Where a server listens; the file, if there is one, lies in a folder that only this user can enter. */
export interface Endpoint {
  readonly address: string;
  /** To be called once it listens. */
  protect(): Promise<void>;
  remove(): Promise<void>;
}

const windows = process.platform === 'win32';
/** Longest path of a Unix socket: 104 bytes with its end on macOS, 108 on Linux. */
const MAX_SOCKET_PATH = 103;
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

/** This process as a host; `folders` may be links, their real paths are published. */
export async function describeHost(
  socket: string,
  token: string,
  folders: readonly string[],
  version: number,
): Promise<HostRecord> {
  return {
    kind: 'host',
    pid: process.pid,
    bootId: await bootId(),
    host: os.hostname(),
    socket,
    token,
    folders: await realPaths(folders),
    version,
    startedAt: Date.now(),
  };
}

/** Real paths, in order; a folder that is gone keeps its name. */
export async function realPaths(folders: readonly string[]): Promise<readonly string[]> {
  return Promise.all(folders.map(f => fs.realpath(f).catch(() => path.resolve(f))));
}

/** A run file's path for this process; it doesn't exist yet. */
export function newRunFile(root: string): string {
  return path.join(runFolder(root), `host-${process.pid}-${randomBytes(4).toString('hex')}.json`);
}

/** Writes the run file as a whole, mode 0600, into a folder of mode 0700. Throws when that folder isn't safe. */
export async function publish(file: string, record: HostRecord): Promise<void> {
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
  if (windows) return;
  for (const folder of socketFolders()) {
    // A folder that isn't ours alone is left alone.
    if (
      (await fs.lstat(folder).then(
        s => unsafe(s, 0o077),
        () => 'missing',
      )) !== undefined
    )
      continue;
    for (const file of await fs.readdir(folder).catch(() => [])) {
      const pid = /^(\d+)-[0-9a-f]+\.sock$/.exec(file)?.[1];
      const address = path.join(folder, file);
      if (pid !== undefined && !isAlive(Number(pid)) && (await isDeaf(address)))
        await fs.rm(address, { force: true }).catch(() => undefined);
    }
  }
}

/** Nobody listens there. A process id proves nothing where containers share a folder but not their processes. */
function isDeaf(address: string): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(address);
    const end = (deaf: boolean) => {
      socket.destroy();
      resolve(deaf);
    };
    socket.once('connect', () => end(false));
    socket.once('error', e => end('code' in e && (e.code === 'ECONNREFUSED' || e.code === 'ENOENT')));
  });
}

/**
 * The living hosts whose folders hold `cwd` (a real path), the innermost folder first and of equals the newest. That
 * a process lives doesn't mean it answers: try them in order.
 */
export async function findHosts(root: string, cwd: string): Promise<readonly FoundHost[]> {
  const found: { host: FoundHost; depth: number }[] = [];
  for (const host of await readRecords(root)) {
    const depth = Math.max(...host.record.folders.map(f => (isWithin(f, cwd) ? f.length : -1)), -1);
    if (depth >= 0 && host.record.host === os.hostname() && (await mayLive(host.record)))
      found.push({ host, depth });
  }
  found.sort((a, b) => b.depth - a.depth || b.host.record.startedAt - a.host.record.startedAt);
  return found.map(f => f.host);
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
    if (/^host-\d+-[0-9a-f]+\.json$/.test(file)) {
      const record = await readRecord(path.join(folder, file)).catch(() => undefined);
      if (record) found.push({ file: path.join(folder, file), record });
    }
  return found;
}

async function readRecord(file: string): Promise<HostRecord | undefined> {
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

function parseRecord(value: unknown): HostRecord | undefined {
  const v = fields(value);
  const pid = count(v?.['pid']);
  const bootId = name(v?.['bootId'], 128);
  const host = text(v?.['host'], 256);
  const socket = name(v?.['socket'], 256);
  const token = hex(v?.['token'], 64);
  const folders = list(v?.['folders'], 1000, f => name(f, 4096));
  const version = count(v?.['version']);
  const startedAt = count(v?.['startedAt']);
  if (v?.['kind'] !== 'host' || !pid || bootId === undefined || host === undefined) return undefined;
  if (socket === undefined || token === undefined || folders === undefined) return undefined;
  if (version === undefined || startedAt === undefined || !path.isAbsolute(socket)) return undefined;
  return { kind: 'host', pid, bootId, host, socket, token, folders, version, startedAt };
}

async function mayLive(record: HostRecord): Promise<boolean> {
  return sameBoot(record.bootId, await bootId()) && isAlive(record.pid);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (e) {
    // Anything but "no such process" may be a living process of somebody.
    return !(e instanceof Error && 'code' in e && e.code === 'ESRCH');
  }
}

/** Chooses where to listen: a named pipe on Windows, else a socket in a private folder with a path short enough. */
export async function makeEndpoint(): Promise<Endpoint> {
  const file = `${process.pid}-${randomBytes(4).toString('hex')}`;
  if (windows) {
    const done = () => Promise.resolve();
    return { address: `\\\\.\\pipe\\strata-${file}`, protect: done, remove: done };
  }
  const refused: string[] = [];
  for (const folder of socketFolders()) {
    const address = path.join(folder, `${file}.sock`);
    if (Buffer.byteLength(address) > MAX_SOCKET_PATH) {
      refused.push(`${folder} is too long a path for a socket`);
      continue;
    }
    try {
      await ownFolder(folder, 0o077);
      return {
        address,
        protect: () => fs.chmod(address, 0o600),
        remove: () => fs.rm(address, { force: true }),
      };
    } catch (e) {
      refused.push(e instanceof Error ? e.message : String(e));
    }
  }
  throw new Error(
    `No private folder for a socket: ${refused.join('; ')}. Set TMPDIR to a folder of your own.`,
  );
}

function socketFolders(): readonly string[] {
  const own = `strata-${process.getuid?.() ?? 0}`;
  return [...new Set([os.tmpdir(), '/tmp'])].map(t => path.join(t, own));
}

/** Makes a folder of mode 0700, or checks that an existing one is ours and has none of the `forbidden` mode bits. */
async function ownFolder(folder: string, forbidden: number): Promise<void> {
  await fs.mkdir(path.dirname(folder), { recursive: true, mode: 0o700 });
  try {
    await fs.mkdir(folder, { mode: 0o700 });
    if (!windows) await fs.chmod(folder, 0o700);
  } catch (e) {
    if (!(e instanceof Error && 'code' in e && e.code === 'EEXIST')) throw e;
  }
  const wrong = unsafe(await fs.lstat(folder), forbidden);
  if (wrong !== undefined) throw new Error(`${folder} ${wrong}`);
}

function unsafe(stats: Stats, forbidden: number): string | undefined {
  if (!stats.isDirectory()) return 'is not a folder of its own';
  return foreign(stats, forbidden) ? 'can be used by other users' : undefined;
}

function foreign(stats: Stats, forbidden: number): boolean {
  return process.getuid !== undefined && (stats.uid !== process.getuid() || (stats.mode & forbidden) !== 0);
}
