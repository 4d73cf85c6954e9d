import { isAscii } from 'node:buffer';
import type { Frame, JournalLine, JournalTail } from '../archive/ports';
import type { DiskFile } from './disk';
import { decodeFrame, decodeHead, frameBody, HEAD_BYTES, readFully } from './frame';

type Readable = Pick<DiskFile, 'read'>;

/** A good line. Its text is made when somebody wants it: whoever only checks a journal must not pay for it. */
class ScannedFrame implements Frame {
  constructor(
    readonly ref: JournalLine,
    private readonly body: Buffer,
  ) {}
  get json(): string {
    // Twice as fast, and most lines are.
    return this.body.toString(isAscii(this.body) ? 'latin1' : 'utf8');
  }
}
export interface ScanResult {
  /** Behind the last good line of the unbroken run from the start. */
  readonly end: number;
  readonly tail: JournalTail;
}

/** Small enough for what is done with a piece of a journal not to be felt by whoever shares the process. */
const CHUNK_BYTES = 512 * 1024;

/**
 * Yields the good lines between `from` (a line's start) and `size`, a chunk of the file at a time, and returns where
 * they end and why. Reads at most half a mebibyte at once, or one line when that is longer.
 * With `keep: false` the lines are only good until the next ones are asked for, which saves memory for each chunk.
 */
export async function* scanFrames(
  file: Readable,
  from: number,
  size: number,
  { keep = true } = {},
): AsyncGenerator<readonly Frame[], ScanResult> {
  const buffer = keep ? undefined : Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, size - from));
  let at = from;
  let want = CHUNK_BYTES;
  while (at < size) {
    const asked = Math.min(want, size - at);
    const bytes = await readFully(file, at, asked, buffer);
    want = CHUNK_BYTES;
    const frames: Frame[] = [];
    let used = 0;
    let bad = false;
    while (used < bytes.length) {
      const head = bytes.length - used < HEAD_BYTES ? undefined : decodeHead(bytes, used);
      const length = HEAD_BYTES + (head?.length ?? 0) + 1;
      if (at + used + length > size) {
        bad = true;
        break;
      }
      if (used + length > bytes.length) {
        want = Math.max(CHUNK_BYTES, length);
        break;
      }
      const body = head && frameBody(bytes, used, head);
      if (head === undefined || body === undefined) {
        bad = true;
        break;
      }
      frames.push(new ScannedFrame({ offset: at + used, length, crc: head.crc }, body));
      used += length;
    }
    if (frames.length > 0) yield frames;
    at += used;
    // Fewer bytes than the size promised: somebody cut the file meanwhile.
    if (bad || bytes.length < asked) return { end: at, tail: await judgeTail(file, at, size) };
  }
  return { end: at, tail: { state: 'clean' } };
}

/**
 * Torn or damaged? A flipped bit in a length looks just like a line that was never finished, so a good line is looked
 * for in all that follows before anything may be called a torn tail.
 */
async function judgeTail(file: Readable, bad: number, size: number): Promise<JournalTail> {
  const next = await findFrame(file, bad + 1, size);
  if (next === undefined) return { state: 'torn', bytes: size - bad };
  return {
    state: 'damaged',
    offset: bad,
    reason: `the line at byte ${bad} does not match its length and checksum, and a good line follows at byte ${next}`,
  };
}

/** The first good line that starts at `from` or later, wherever it starts: the LF before it may be what broke. */
async function findFrame(file: Readable, from: number, size: number): Promise<number | undefined> {
  const mark = Buffer.from(' {');
  for (let at = from; at < size; at += CHUNK_BYTES) {
    // Marks belong to the chunk their head starts in, so each chunk is read a head further.
    const bytes = await readFully(file, at, Math.min(CHUNK_BYTES + HEAD_BYTES, size - at));
    let space = bytes.indexOf(mark, HEAD_BYTES - 1);
    for (; space !== -1; space = bytes.indexOf(mark, space + 1)) {
      const start = space - (HEAD_BYTES - 1);
      const head = decodeHead(bytes, start);
      if (head !== undefined && (await isFrame(file, at + start, HEAD_BYTES + head.length + 1, size)))
        return at + start;
    }
  }
  return undefined;
}

async function isFrame(file: Readable, at: number, length: number, size: number): Promise<boolean> {
  if (at + length > size) return false;
  // The line's end first: text that only looks like heads must not make us read the rest of the file for each.
  const end = await readFully(file, at + length - 1, 1);
  if (end[0] !== 0x0a) return false;
  return decodeFrame(await readFully(file, at, length)) !== undefined;
}
