import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { archiveIdFor } from '../archive/canonical';
import type { ArchiveId } from '../archive/ids';
import type { Blobs, BlobSource, Journal, JournalSource } from '../archive/ports';
import type { SessionIdentity } from '../archive/requests';
import { newConfig, readConfig, writeConfig, type ArchiveConfig } from './archiveConfig';
import { removeTemporaries } from './atomicFile';
import { blobFolder, blobSource, FolderBlobs } from './blobs';
import { errorCode, nodeDisk, UnsafeFileError, type Disk } from './disk';
import { removeReplaced, settleGenerations } from './generation';
import { createJournal, journalName } from './journal';
import { beginJournal } from './journalOpen';
import { JournalError } from './journalError';
import { journalSource } from './journalSource';
import { tryLock, type Lock, type LockHolder } from './lock';
import { privateFolder, UnsafeFolderError } from './privateFolder';

const CONFIG = 'config.json';
const LOCK = 'lock';

/** An archive folder opened for writing, or why it wasn't. Reasons are sentences for people. */
export type OpenedArchive =
  | {
      readonly state: 'opened';
      readonly id: ArchiveId;
      readonly dir: string;
      readonly config: ArchiveConfig;
      readonly journal: Journal;
      readonly blobs: Blobs;
      /** The same journal for readers in this process: the views. */
      readonly source: JournalSource;
      readonly lock: Lock;
      /** Closes the journal, then lets go of the lock. */
      close(): Promise<void>;
    }
  /** Another process owns it. */
  | { readonly state: 'locked'; readonly id: ArchiveId; readonly dir: string; readonly by?: LockHolder }
  /** This process can't take locks, so it may only read. */
  | { readonly state: 'no-locks'; readonly id: ArchiveId; readonly dir: string; readonly reason: string }
  | { readonly state: 'refused'; readonly id: ArchiveId; readonly dir: string; readonly reason: string };

/** An archive folder for reading, whoever owns it. */
export type ReadableArchive =
  | {
      readonly state: 'readable';
      readonly dir: string;
      readonly config: ArchiveConfig;
      readonly source: JournalSource;
      readonly blobs: BlobSource;
    }
  | { readonly state: 'refused'; readonly dir: string; readonly reason: string };

/** The folder of a session's archive (design.md section 4). */
export function archiveDir(root: string, id: ArchiveId): string {
  return path.join(root, 'sessions', id);
}

/**
 * Finds or makes the archive of a session and takes its lock; the caller owns it until `close`. `runFile` is written
 * into the lock for those who look for the owner. Expected outcomes are values; a broken system call is thrown.
 */
export async function openArchiveFolder(
  root: string,
  identity: SessionIdentity,
  runFile?: string,
  disk: Disk = nodeDisk,
): Promise<OpenedArchive> {
  const id = archiveIdFor(identity.cwd, identity.sessionId);
  // A root that is a link is the user's own choice; inside it no link is followed.
  const real = await followLink(root);
  const dir = archiveDir(real, id);
  try {
    await privateFolder(real);
    await privateFolder(path.dirname(dir));
    await privateFolder(dir);
    const locked = await tryLock(path.join(dir, LOCK), runFile);
    switch (locked.state) {
      case 'unavailable':
        return { state: 'no-locks', id, dir, reason: locked.reason };
      case 'busy':
        return { state: 'locked', id, dir, ...(locked.holder && { by: locked.holder }) };
      case 'held':
        return await openLocked(id, dir, identity, locked.lock, disk);
    }
  } catch (e) {
    if (e instanceof UnsafeFolderError || e instanceof UnsafeFileError || e instanceof JournalError)
      return { state: 'refused', id, dir, reason: e.message };
    throw e;
  }
}

async function followLink(root: string): Promise<string> {
  try {
    return await realpath(root);
  } catch (e) {
    if (errorCode(e) === 'ENOENT') return root;
    throw e;
  }
}

async function openLocked(
  id: ArchiveId,
  dir: string,
  identity: SessionIdentity,
  lock: Lock,
  disk: Disk,
): Promise<OpenedArchive> {
  let journal: Journal | undefined;
  try {
    const found = await settleConfig(dir, identity, disk);
    if (found.state === 'refused') {
      await lock.release();
      return { state: 'refused', id, dir, reason: found.reason };
    }
    // Under the lock nobody else writes here.
    await removeTemporaries(dir, disk);
    await removeTemporaries(blobFolder(dir), disk);
    const file = path.join(dir, journalName(found.config.generation));
    // The old journal goes only when all of the new one was found to be there.
    const opened = (journal = await beginJournal(file, disk, async tail => {
      if (tail.state !== 'damaged') await removeReplaced(dir, found.config, disk);
    }));
    const close = async () => {
      try {
        await opened.close();
      } finally {
        await lock.release();
      }
    };
    return {
      state: 'opened',
      id,
      dir,
      config: found.config,
      journal: opened,
      blobs: new FolderBlobs(dir, disk),
      source: journalSource(file),
      lock,
      close,
    };
  } catch (e) {
    await journal?.close();
    await lock.release();
    throw e;
  }
}

type Settled =
  | { readonly state: 'settled'; readonly config: ArchiveConfig }
  | { readonly state: 'refused'; readonly reason: string };

/**
 * A new archive's journal is made, empty, before its configuration, so an empty journal alone is a crash in between
 * and may go on. Every other half of a pair means that a file was lost, and then nothing is made anew.
 */
async function settleConfig(dir: string, identity: SessionIdentity, disk: Disk): Promise<Settled> {
  const file = path.join(dir, CONFIG);
  const read = await readConfig(file);
  if (read.state === 'bad')
    return refuse(`${read.reason} Nothing was changed. Restore ${file} from a backup.`);
  if (read.state === 'missing') {
    const journal = path.join(dir, journalName(1));
    const bytes = await sizeOf(journal);
    if (bytes !== undefined && bytes > 0)
      return refuse(
        `${file} is missing although ${journal} holds ${bytes} bytes. Nothing was changed. ` +
          `Restore ${CONFIG} from a backup, or move the folder ${dir} away to start a new archive.`,
      );
    if (bytes === undefined) await createJournal(journal, disk);
    const config = newConfig(identity);
    await writeConfig(file, config, {}, disk);
    return { state: 'settled', config };
  }
  const { config, fields } = read;
  if (config.sessionId !== identity.sessionId || config.cwd !== identity.cwd)
    return refuse(
      `${file} names session ${config.sessionId} in ${config.cwd}, not this one. Nothing was changed. ` +
        `Move the folder ${dir} away to start a new archive.`,
    );
  const journal = path.join(dir, journalName(config.generation));
  if ((await sizeOf(journal)) === undefined)
    return refuse(
      `${journal} is missing, and with it what this session remembers. Nothing was changed. ` +
        `Restore it from a backup, or move the folder ${dir} away to start a new archive.`,
    );
  const settled = await settleGenerations(dir, read, disk);
  if ('refused' in settled) return refuse(settled.refused);
  return { state: 'settled', config: await moved(file, settled, fields, identity, disk) };
}

/** Pi's file may have been renamed since; the archive is the same. */
async function moved(
  file: string,
  config: ArchiveConfig,
  fields: Readonly<Record<string, unknown>>,
  identity: SessionIdentity,
  disk: Disk,
): Promise<ArchiveConfig> {
  if (identity.sessionFile === undefined || identity.sessionFile === config.sessionFile) return config;
  const now = { ...config, sessionFile: identity.sessionFile };
  await writeConfig(file, now, fields, disk);
  return now;
}

function refuse(reason: string): Settled {
  return { state: 'refused', reason };
}

async function sizeOf(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size;
  } catch (e) {
    if (errorCode(e) === 'ENOENT') return undefined;
    throw e;
  }
}

/** Opens an archive folder for reading: takes no lock and writes nothing. Never throws for what it finds there. */
export async function readArchiveFolder(dir: string): Promise<ReadableArchive> {
  const read = await readConfig(path.join(dir, CONFIG));
  if (read.state === 'missing')
    return { state: 'refused', dir, reason: `${dir} is not an archive: it has no ${CONFIG}.` };
  if (read.state === 'bad') return { state: 'refused', dir, reason: read.reason };
  const source = journalSource(path.join(dir, journalName(read.config.generation)));
  return { state: 'readable', dir, config: read.config, source, blobs: blobSource(dir) };
}
