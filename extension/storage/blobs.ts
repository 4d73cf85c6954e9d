import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { sha256Hex } from '../archive/canonical';
import type { BlobRead, Blobs, BlobSource } from '../archive/ports';
import { atomicWrite } from './atomicFile';
import { errorCode, nodeDisk, type Disk } from './disk';
import { readFully } from './frame';
import { reasonOf } from './journalError';
import { checkPrivateFolder, privateFolder } from './privateFolder';

const FOLDER = 'blobs';
const SHA256 = /^[0-9a-f]{64}$/;

/** Where an archive in `dir` keeps its blobs; there from the first one on. */
export function blobFolder(dir: string): string {
  return path.join(dir, FOLDER);
}

/** The blobs of the archive in `dir` for reading: takes no lock and writes nothing. */
export function blobSource(dir: string, disk: Disk = nodeDisk): BlobSource {
  return { read: sha256 => readBlob(blobFolder(dir), sha256, disk) };
}

/**
 * The blobs of the archive in `dir` for its owner, who holds its lock. A blob is written beside its place, synced,
 * renamed, and its folder synced, so under a blob's name there is the whole of it or nothing.
 */
export class FolderBlobs implements Blobs {
  /** Puts of this process by name: what one has made durable, or is about to. */
  readonly #puts = new Map<string, Promise<void>>();
  #folder: Promise<void> | undefined;

  constructor(
    private readonly dir: string,
    private readonly disk: Disk = nodeDisk,
  ) {}

  read(sha256: string): Promise<BlobRead> {
    return readBlob(blobFolder(this.dir), sha256, this.disk);
  }

  /** Also puts a damaged or missing blob right. */
  async put(bytes: Uint8Array): Promise<string> {
    const sha256 = sha256Hex(bytes);
    let put = this.#puts.get(sha256);
    if (!put) {
      put = this.#put(sha256, bytes);
      this.#puts.set(sha256, put);
      // A full disk may have space again at the next try.
      put.catch(() => this.#puts.delete(sha256));
    }
    await put;
    return sha256;
  }

  async #put(sha256: string, bytes: Uint8Array): Promise<void> {
    await this.#makeFolder();
    const folder = blobFolder(this.dir);
    if ((await this.read(sha256)).state === 'whole') {
      // Its writer may have ended before it came to this.
      await this.disk.syncFolder(folder);
      return;
    }
    await atomicWrite(path.join(folder, sha256), bytes, this.disk);
  }

  async #makeFolder(): Promise<void> {
    this.#folder ??= privateFolder(blobFolder(this.dir)).then(() => this.disk.syncFolder(this.dir));
    try {
      await this.#folder;
    } catch (e) {
      this.#folder = undefined;
      throw e;
    }
  }
}

async function readBlob(folder: string, sha256: string, disk: Disk): Promise<BlobRead> {
  // Also what keeps a name from being a path.
  if (!SHA256.test(sha256)) return { state: 'damaged', reason: 'it has no name that a blob can have' };
  try {
    await checkPrivateFolder(folder);
    const file = await disk.open(path.join(folder, sha256), 'read');
    try {
      const bytes = await readFully(file, 0, await file.size());
      return sha256Hex(bytes) === sha256
        ? { state: 'whole', bytes }
        : { state: 'damaged', reason: 'its bytes are not those it is named by' };
    } finally {
      await file.close();
    }
  } catch (e) {
    return errorCode(e) === 'ENOENT' ? { state: 'missing' } : { state: 'damaged', reason: reasonOf(e) };
  }
}

/** A look without reading: undefined when a file of that name and size is there, else what is wrong. */
export async function glanceAtBlob(dir: string, sha256: string, bytes: number): Promise<string | undefined> {
  try {
    const stats = await lstat(path.join(blobFolder(dir), sha256));
    return stats.isFile() && stats.size === bytes ? undefined : 'damaged';
  } catch (e) {
    return errorCode(e) === 'ENOENT' ? 'missing' : reasonOf(e);
  }
}
