import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import type { CheckpointStore } from '../archive/ports';
import { nodeDisk, type Disk, type DiskFile } from './disk';
import { readFully } from './frame';

/** The file's name in an archive folder. */
const CHECKPOINT = 'checkpoint';
/** `STRATAC1`, then CRC-32 and length of what follows the head, then the journal's number; 8 bytes each, as numbers. */
const MAGIC = Buffer.from('STRATAC1');
const HEAD_BYTES = 32;
/** Far more than the checkpoint of any journal that a disk holds; a length above it is damage. */
const MAX_BYTES = 1024 * 1024 * 1024;
/** Written at once, so that whoever shares the process is let in between. */
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
    read: () => readCheckpoint(disk, file, number).catch(() => undefined),
    write: parts => writeCheckpoint(disk, file, number, parts),
  };
}

/** A checkpoint of another generation is not this journal's. */
function numberOf(journal: string): number {
  return Number(/(\d+)\.jsonl$/.exec(journal)?.[1] ?? 0);
}

async function readCheckpoint(disk: Disk, name: string, number: number): Promise<Uint8Array | undefined> {
  const file = await disk.open(name, 'read');
  try {
    const size = await file.size();
    if (size < HEAD_BYTES || size > MAX_BYTES) return undefined;
    const bytes = await readFully(file, 0, size);
    if (bytes.length !== size || bytes.compare(MAGIC, 0, 8, 0, 8) !== 0) return undefined;
    const body = bytes.subarray(HEAD_BYTES);
    const whole =
      bytes.readDoubleLE(8) === crc32(body) &&
      bytes.readDoubleLE(16) === body.length &&
      bytes.readDoubleLE(24) === number;
    return whole ? body : undefined;
  } finally {
    await file.close();
  }
}

async function writeCheckpoint(
  disk: Disk,
  name: string,
  number: number,
  parts: readonly Uint8Array[],
): Promise<void> {
  const head = Buffer.alloc(HEAD_BYTES);
  MAGIC.copy(head);
  let crc = 0;
  let length = 0;
  for (const part of parts) {
    // On Node 20 an empty piece of no memory at all sets the sum back to 0.
    if (part.length > 0) crc = crc32(part, crc);
    length += part.length;
    // Lets everything else that waits run first.
    await setImmediate();
  }
  head.writeDoubleLE(crc, 8);
  head.writeDoubleLE(length, 16);
  head.writeDoubleLE(number, 24);
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
