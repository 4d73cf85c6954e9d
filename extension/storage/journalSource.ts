import type { Frame, FrameRef, JournalPiece, JournalSource } from '../archive/ports';
import { checkpointFile } from './checkpointFile';
import { nodeDisk, type Disk, type DiskFile } from './disk';
import { decodeFrame, HEAD_BYTES, MAX_JSON_BYTES, readFully } from './frame';
import { scanFrames } from './frameScan';

/** A reading ends at the first line that reaches this far. */
const PIECE_BYTES = 1024 * 1024;

/**
 * Reads a journal that another process may be writing: no lock, no write, no file kept open between calls, so a
 * journal that is replaced or deleted is noticed. A last line that isn't whole is reported as `torn` and may simply
 * not be finished yet: ask again from `next`. Rejects with the system's error when the file can't be opened.
 */
export function journalSource(name: string, disk: Disk = nodeDisk): JournalSource {
  return {
    read: from => opened(disk, name, file => readPiece(file, from)),
    checkpoint: checkpointFile(name, disk),
    frame: ref => opened(disk, name, file => readFrame(name, file, ref)),
  };
}

async function readPiece(file: DiskFile, from: number): Promise<JournalPiece> {
  const size = await file.size();
  if (size < from) {
    const reason = `the journal now ends at byte ${size}, before what was already read (${from}): start again`;
    return { frames: [], next: from, more: false, tail: { state: 'damaged', offset: size, reason } };
  }
  const frames: Frame[] = [];
  let next = from;
  const scan = scanFrames(file, from, size);
  for (;;) {
    const step = await scan.next();
    if (step.done === true) return { frames, next: step.value.end, more: false, tail: step.value.tail };
    for (const frame of step.value) frames.push(frame);
    const last = step.value.at(-1);
    if (last) next = last.offset + last.length;
    if (next - from >= PIECE_BYTES && next < size)
      return { frames, next, more: true, tail: { state: 'clean' } };
  }
}

async function opened<T>(disk: Disk, name: string, use: (file: DiskFile) => Promise<T>): Promise<T> {
  const file = await disk.open(name, 'read');
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

async function readFrame(name: string, file: DiskFile, ref: FrameRef): Promise<string> {
  const size = await file.size();
  const possible =
    ref.offset >= 0 && ref.length > HEAD_BYTES && ref.length <= HEAD_BYTES + MAX_JSON_BYTES + 1;
  const body =
    possible && ref.offset + ref.length <= size
      ? decodeFrame(await readFully(file, ref.offset, ref.length))
      : undefined;
  if (body === undefined)
    throw new Error(
      `${name} holds no good line at byte ${ref.offset} any more: it was changed from outside.`,
    );
  return body.toString('utf8');
}
