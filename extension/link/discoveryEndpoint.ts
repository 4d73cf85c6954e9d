import { randomBytes } from 'node:crypto';
import { promises as fs, type Stats } from 'node:fs';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';

/** Where a server listens; the file, if there is one, lies in a folder that only this user can enter. */
export interface Endpoint {
  readonly address: string;
  /** To be called once it listens. */
  protect(): Promise<void>;
  remove(): Promise<void>;
}

export const windows = process.platform === 'win32';
/** Longest path of a Unix socket: 104 bytes with its end on macOS, 108 on Linux. */
const MAX_SOCKET_PATH = 103;

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
export async function ownFolder(folder: string, forbidden: number): Promise<void> {
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

export function foreign(stats: Stats, forbidden: number): boolean {
  return process.getuid !== undefined && (stats.uid !== process.getuid() || (stats.mode & forbidden) !== 0);
}

/** Removes sockets that dead processes of this user left behind. Never throws. */
export async function sweepSockets(): Promise<void> {
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
export function isDeaf(address: string): Promise<boolean> {
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

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (e) {
    // Anything but "no such process" may be a living process of somebody.
    return !(e instanceof Error && 'code' in e && e.code === 'ESRCH');
  }
}
