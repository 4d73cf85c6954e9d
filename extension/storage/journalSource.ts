import type { Frame, FrameRef, JournalSource } from '../archive/ports';
import { nodeDisk, type Disk, type DiskFile } from './disk';
import { decodeFrame, HEAD_BYTES, MAX_JSON_BYTES, readFully } from './frame';
import { scanFrames } from './frameScan';

/**
 * Reads a journal that another process may be writing: no lock, no write, no file kept open between calls, so a
 * journal that is replaced or deleted is noticed. A last line that isn't whole is reported as `torn` and may simply
 * not be finished yet: ask again from `next`. Rejects with the system's error when the file can't be opened.
 */
export function journalSource(name: string, disk: Disk = nodeDisk): JournalSource {
  return {
    read: from =>
      opened(disk, name, async file => {
        const size = await file.size();
        if (size < from)
          return {
            frames: [],
            next: from,
            tail: {
              state: 'damaged',
              offset: size,
              reason: `the journal now ends at byte ${size}, before what was already read (${from}): start again`,
            },
          };
        const frames: Frame[] = [];
        const scan = scanFrames(file, from, size);
        let step = await scan.next();
        for (; step.done !== true; step = await scan.next())
          for (const { ref, body } of step.value) frames.push({ ref, json: body.toString('utf8') });
        return { frames, next: step.value.end, tail: step.value.tail };
      }),
    frame: ref => opened(disk, name, file => readFrame(name, file, ref)),
  };
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
