import { isAscii } from 'node:buffer';
import type { Frame, JournalTail } from '../archive/ports';
import { ChunkReader, type Readable } from './chunkReader';
import { decodeFrame, decodeHead, frameFits, HEAD_BYTES, readFully } from './frame';

/** A good line. Its text is made when somebody wants it: whoever only checks a journal must not pay for it. */
class ScannedFrame implements Frame {
  constructor(
    readonly offset: number,
    readonly length: number,
    readonly crc: number,
    private readonly bytes: Buffer,
    private readonly start: number,
  ) {}
  get json(): string {
    const body = this.bytes.subarray(this.start + HEAD_BYTES, this.start + this.length - 1);
    // Twice as fast, and most lines are.
    return body.toString(isAscii(body) ? 'latin1' : 'utf8');
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
 * they end and why. Holds two chunks of half a mebibyte, or a line when that is longer.
 * With `keep: false` the lines are only good until the next ones are asked for, which saves memory for each chunk.
 */
export async function* scanFrames(
  file: Readable,
  from: number,
  size: number,
  { keep = true } = {},
): AsyncGenerator<readonly Frame[], ScanResult> {
  const chunks = new ChunkReader(file, size, CHUNK_BYTES, keep);
  let at = from;
  let want = CHUNK_BYTES;
  let rest: Buffer | undefined;
  try {
    while (at < size) {
      const bytes = await chunks.read(at, want, rest);
      const short = bytes.length < Math.min(want, size - at);
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
        if (head === undefined || !frameFits(bytes, used, head)) {
          bad = true;
          break;
        }
        frames.push(new ScannedFrame(at + used, length, head.crc, bytes, used));
        used += length;
      }
      if (frames.length > 0) yield frames;
      at += used;
      rest = bytes.subarray(used);
      // Fewer bytes than the size promised: somebody cut the file meanwhile.
      if (bad || short) return { end: at, tail: await judgeTail(file, at, size) };
    }
    return { end: at, tail: { state: 'clean' } };
  } finally {
    await chunks.close();
  }
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
