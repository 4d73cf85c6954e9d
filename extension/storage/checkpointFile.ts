import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { CheckpointStore } from '../archive/ports';
import { nodeDisk, type Disk, type DiskFile } from './disk';
import { readFully } from './frame';

/** The file's name in an archive folder. */
const CHECKPOINT = 'checkpoint';
/** `STRATAC2`, then CRC-32 of all that follows it, length of the body, the journal's number and bytes; 8 bytes each, as numbers. */
const MAGIC = Buffer.from('STRATAC2');
const CRC_END = 16;
const HEAD_BYTES = 40;
/** Far more than the checkpoint of any journal that a disk holds; a length above it is damage. */
const MAX_BYTES = 1024 * 1024 * 1024;
/** Read, checked and written at once, so that whoever shares the process is let in between. */
const SLICE_BYTES = 4 * 1024 * 1024;

/**
 * The checkpoint beside a journal. Only its owner writes it, as a whole, by rename. It is never synced: after a crash
 * it may be empty or half, which its checksum tells, and then the journal is read instead. What it says is not judged
 * here.
 */
export function checkpointFile(journal: string, disk: Disk = nodeDisk): CheckpointStore {
  const file = path.join(path.dirname(journal), CHECKPOINT);
  const number = numberOf(journal);
  return {
    covers: () => withHead(disk, file, number, head => Promise.resolve(head.covers)),
    read: () => withHead(disk, file, number, readBody),
    write: (parts, covers) => writeCheckpoint(disk, file, { number, covers }, parts),
  };
}

/** A checkpoint of another generation is not this journal's. */
function numberOf(journal: string): number {
  return Number(/(\d+)\.jsonl$/.exec(journal)?.[1] ?? 0);
}

interface Head {
  readonly crc: number;
  /** Bytes of the body. */
  readonly length: number;
  /** Bytes of the journal. */
  readonly covers: number;
  readonly bytes: Buffer;
}

/** Undefined when there is no checkpoint of that journal, or reading it fails. */
async function withHead<T>(
  disk: Disk,
  name: string,
  number: number,
  use: (head: Head, file: DiskFile) => Promise<T | undefined>,
): Promise<T | undefined> {
  let file: DiskFile | undefined;
  try {
    file = await disk.open(name, 'read');
    const size = await file.size();
    const bytes = await readFully(file, 0, HEAD_BYTES);
    if (size < HEAD_BYTES || size > MAX_BYTES || bytes.compare(MAGIC, 0, 8, 0, 8) !== 0) return undefined;
    const [crc = 0, length, found, covers = 0] = [8, 16, 24, 32].map(at => bytes.readDoubleLE(at));
    if (length !== size - HEAD_BYTES || found !== number) return undefined;
    return await use({ crc, length, covers, bytes }, file);
  } catch {
    return undefined;
  } finally {
    await file?.close().catch(() => undefined);
  }
}

async function readBody(head: Head, file: DiskFile): Promise<Uint8Array | undefined> {
  const body = Buffer.allocUnsafeSlow(head.length);
  let crc = crc32(head.bytes.subarray(CRC_END));
  for (let at = 0; at < body.length; at += SLICE_BYTES) {
    const slice = body.subarray(at, at + SLICE_BYTES);
    const { length } = await readFully(file, HEAD_BYTES + at, slice.length, slice);
    if (length < slice.length) return undefined;
    crc = crc32(slice, crc);
  }
  return crc === head.crc ? body : undefined;
}

async function writeCheckpoint(
  disk: Disk,
  name: string,
  { number, covers }: { readonly number: number; readonly covers: number },
  parts: readonly Uint8Array[],
): Promise<void> {
  const head = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(head);
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  head.writeDoubleLE(length, 16);
  head.writeDoubleLE(number, 24);
  head.writeDoubleLE(covers, 32);
  let crc = crc32(head.subarray(CRC_END));
  for (const part of parts) {
    // On Node 20 an empty piece of no memory at all sets the sum back to 0.
    if (part.length > 0) crc = crc32(part, crc);
    // Lets everything else that waits run first.
    await setImmediate();
  }
  head.writeDoubleLE(crc, 8);
  const temporary = `${name}.new`;
  // What an earlier process left half-done.
  await disk.unlink(temporary).catch(() => undefined);
  const file = await disk.open(temporary, 'create');
  try {
    let at = 0;
    for (const part of [head, ...parts]) at = await writeAll(file, part, at);
  } finally {
    await file.close();
  }
  await disk.rename(temporary, name);
}

async function writeAll(file: DiskFile, part: Uint8Array, at: number): Promise<number> {
  for (let done = 0; done < part.length;) {
    const taken = await file.write(part.subarray(done, done + SLICE_BYTES), at + done);
    if (taken === 0) throw new Error('the disk takes no more bytes');
    done += taken;
  }
  return at + part.length;
}
