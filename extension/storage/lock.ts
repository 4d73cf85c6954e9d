import { lstat, type FileHandle } from 'node:fs/promises';
import os from 'node:os';
import { bootId } from './bootId';
import { errorCode, openOrCreatePrivate, openPrivate } from './disk';
import { reasonOf } from './journalError';

/** What a lock's holder wrote about itself: for messages and for finding it, never to decide who owns the lock. */
export interface LockHolder {
  readonly pid: number;
  readonly bootId: string;
  readonly host: string;
  /** Milliseconds since 1970 at which the lock was taken. */
  readonly startedAt: number;
  /** The run file by which the holder can be asked. */
  readonly runFile?: string;
}

/** A lock held by this process until `release`, or until the process ends in whatever way. */
export interface Lock {
  readonly file: string;
  release(): Promise<void>;
}
export type LockResult =
  | { readonly state: 'held'; readonly lock: Lock }
  | { readonly state: 'busy'; readonly holder?: LockHolder }
  /** This machine has no native part for locks: nothing may be written here, only read. */
  | { readonly state: 'unavailable'; readonly reason: string };

export type LockSupport =
  { readonly available: true } | { readonly available: false; readonly reason: string };

type TryLock = (fd: number, offset?: number, length?: number) => boolean;

const HOLDER_BYTES = 8 * 1024;
// A lock on Windows also forbids reading, so there only a byte far behind the holder's JSON is locked. macOS locks whole
// files only.
const RANGE: readonly [number, number] = process.platform === 'win32' ? [2 ** 32, 1] : [0, 0];

let native: Promise<TryLock> | undefined;

/** Loaded at the first lock, so that a window without sessions never pays for it and a missing part is a value. */
function loadNative(): Promise<TryLock> {
  native ??= import('fs-native-extensions').then(m => m.tryLock);
  return native;
}

/** Whether this process can take locks at all, and if not why, in a sentence for people. */
export async function lockSupport(): Promise<LockSupport> {
  try {
    await loadNative();
    return { available: true };
  } catch (e) {
    return { available: false, reason: unavailable(e) };
  }
}

function unavailable(e: unknown): string {
  return (
    `File locks do not work on this system (${process.platform}-${process.arch}: ${firstLine(reasonOf(e))}). ` +
    'Archives can be read here but not written, so memory stays off.'
  );
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

/**
 * Tries to take the exclusive lock `file`, making the file if needed. Never waits, and never takes a lock over: only
 * the operating system frees one. Throws the system's error when the file can't be opened.
 */
export async function tryLock(file: string, runFile?: string): Promise<LockResult> {
  let take: TryLock;
  try {
    take = await loadNative();
  } catch (e) {
    return { state: 'unavailable', reason: unavailable(e) };
  }
  const handle = await openOrCreatePrivate(file);
  try {
    let taken: boolean;
    try {
      taken = take(handle.fd, ...RANGE);
    } catch (e) {
      // Some network file systems have no locks.
      await handle.close();
      return { state: 'unavailable', reason: unavailable(e) };
    }
    // A lock on a file that was deleted or replaced meanwhile excludes nobody.
    if (!taken || !(await isStill(file, handle))) {
      await handle.close();
      const holder = await readLockHolder(file);
      return { state: 'busy', ...(holder && { holder }) };
    }
    await writeHolder(handle, runFile);
    return { state: 'held', lock: new HeldLock(file, handle) };
  } catch (e) {
    await handle.close();
    throw e;
  }
}

async function isStill(file: string, handle: FileHandle): Promise<boolean> {
  const held = await handle.stat();
  try {
    const there = await lstat(file);
    return there.ino === held.ino && there.dev === held.dev;
  } catch (e) {
    if (errorCode(e) === 'ENOENT') return false;
    throw e;
  }
}

async function writeHolder(handle: FileHandle, runFile: string | undefined): Promise<void> {
  const holder: LockHolder = {
    pid: process.pid,
    bootId: await bootId(),
    host: os.hostname(),
    startedAt: Date.now(),
    ...(runFile !== undefined && { runFile }),
  };
  await handle.truncate(0);
  await handle.write(`${JSON.stringify(holder)}\n`, 0);
}

class HeldLock implements Lock {
  private released: Promise<void> | undefined;
  constructor(
    readonly file: string,
    private readonly handle: FileHandle,
  ) {}
  release(): Promise<void> {
    // The file itself stays: deleting it would let two processes lock two different files of one name.
    this.released ??= this.handle
      .truncate(0)
      .catch(() => undefined)
      .then(() => this.handle.close());
    return this.released;
  }
}

/** Who holds the lock `file`, as far as it says; undefined when it says nothing that can be trusted to be whole. */
export async function readLockHolder(file: string): Promise<LockHolder | undefined> {
  let text: string;
  try {
    const handle = await openPrivate(file, 'read');
    try {
      const bytes = Buffer.alloc(HOLDER_BYTES);
      text = bytes.toString('utf8', 0, (await handle.read(bytes, 0, bytes.length, 0)).bytesRead);
    } finally {
      await handle.close();
    }
    return parseHolder(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function parseHolder(value: unknown): LockHolder | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { pid, bootId, host, startedAt, runFile } = value as Record<string, unknown>;
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  if (typeof bootId !== 'string' || typeof host !== 'string' || typeof startedAt !== 'number')
    return undefined;
  if (runFile !== undefined && typeof runFile !== 'string') return undefined;
  return { pid, bootId, host, startedAt, ...(runFile !== undefined && { runFile }) };
}
