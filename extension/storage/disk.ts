import { constants, promises as fs, writeSync, type Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';

/** One open regular file. Offsets and sizes are in bytes; every failure is the operating system's own error. */
export interface DiskFile {
  size(): Promise<number>;
  /** Fills `into` from `at` on; returns how much it got, 0 at the end of the file. */
  read(into: Uint8Array, at: number): Promise<number>;
  /** One write call. Returns how much was taken, which may be less than asked. */
  write(bytes: Uint8Array, at: number): Promise<number>;
  truncate(size: number): Promise<void>;
  /** Content and size on stable storage. */
  datasync(): Promise<void>;
  /** Content and all metadata on stable storage. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** How a file is opened: `create` fails when it exists, the others when it doesn't. */
export type OpenMode = 'read' | 'edit' | 'create';

/**
 * Every call by which durable files change. Tests put a failing disk in its place, so that a full or broken disk
 * can be tried at each call without touching node:fs.
 */
export interface Disk {
  open(file: string, mode: OpenMode): Promise<DiskFile>;
  rename(from: string, to: string): Promise<void>;
  unlink(file: string): Promise<void>;
  /** Makes created, renamed and removed names of a folder durable. */
  syncFolder(folder: string): Promise<void>;
}

/** A file that is there but not ours to open: a symbolic link, a device, another user's. The message says which. */
export class UnsafeFileError extends Error {
  constructor(file: string, what: string) {
    super(
      `${file} ${what}. Strata opens only regular files of its own user; move this one away and try again.`,
    );
    this.name = 'UnsafeFileError';
  }
}

// Windows knows neither flag; links there need a privilege to be made.
const NOFOLLOW = constants.O_NOFOLLOW ?? 0;
// Without it, opening a FIFO that somebody put in place of a file would wait for its other end for ever.
const NONBLOCK = constants.O_NONBLOCK ?? 0;

const FLAGS: Record<OpenMode, number> = {
  read: constants.O_RDONLY,
  edit: constants.O_RDWR,
  create: constants.O_RDWR | constants.O_CREAT | constants.O_EXCL,
};

/** Below this a write is a copy into the page cache, and a thread-pool hop costs more than the call itself. */
const SYNC_WRITE_BYTES = 64 * 1024;

/**
 * Opens a regular file of this user, never through a symbolic link, and gives it mode 0600 when it makes it.
 * Throws `UnsafeFileError` for anything else, and the system's error (`code: 'ENOENT'` …) otherwise.
 */
export async function openPrivate(file: string, mode: OpenMode): Promise<FileHandle> {
  return openWith(file, FLAGS[mode], mode === 'create');
}

/** As `openPrivate` with mode `edit`, but makes the file when it isn't there. */
export async function openOrCreatePrivate(file: string): Promise<FileHandle> {
  return openWith(file, constants.O_RDWR | constants.O_CREAT, true);
}

async function openWith(file: string, flags: number, creates: boolean): Promise<FileHandle> {
  let handle: FileHandle;
  try {
    handle = await fs.open(file, flags | NOFOLLOW | NONBLOCK, 0o600);
  } catch (e) {
    if (errorCode(e) === 'ELOOP') throw new UnsafeFileError(file, 'is a symbolic link');
    throw e;
  }
  try {
    const stats = await handle.stat();
    const wrong = notOurs(stats);
    if (wrong !== undefined) throw new UnsafeFileError(file, wrong);
    // The umask has taken bits away from the mode given at creation.
    if (creates && process.platform !== 'win32') await handle.chmod(0o600);
    return handle;
  } catch (e) {
    await handle.close();
    throw e;
  }
}

function notOurs(stats: Stats): string | undefined {
  if (!stats.isFile()) return 'is not a regular file';
  if (process.getuid !== undefined && stats.uid !== process.getuid()) return 'belongs to another user';
  return undefined;
}

/** `code` of a system error, else undefined. */
export function errorCode(e: unknown): string | undefined {
  return e instanceof Error && 'code' in e && typeof e.code === 'string' ? e.code : undefined;
}

class NodeFile implements DiskFile {
  constructor(private readonly handle: FileHandle) {}
  async size(): Promise<number> {
    return (await this.handle.stat()).size;
  }
  async read(into: Uint8Array, at: number): Promise<number> {
    return (await this.handle.read(into, 0, into.length, at)).bytesRead;
  }
  async write(bytes: Uint8Array, at: number): Promise<number> {
    if (bytes.length <= SYNC_WRITE_BYTES) return writeSync(this.handle.fd, bytes, 0, bytes.length, at);
    return (await this.handle.write(bytes, 0, bytes.length, at)).bytesWritten;
  }
  truncate(size: number): Promise<void> {
    return this.handle.truncate(size);
  }
  datasync(): Promise<void> {
    return this.handle.datasync();
  }
  sync(): Promise<void> {
    return this.handle.sync();
  }
  close(): Promise<void> {
    return this.handle.close();
  }
}

/** The real disk. */
export const nodeDisk: Disk = {
  async open(file, mode) {
    return new NodeFile(await openPrivate(file, mode));
  },
  rename: (from, to) => fs.rename(from, to),
  unlink: file => fs.unlink(file),
  async syncFolder(folder) {
    // Windows has no such call: NTFS journals the names itself.
    if (process.platform === 'win32') return;
    const handle = await fs.open(path.resolve(folder), constants.O_RDONLY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};
