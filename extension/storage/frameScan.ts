import { isAscii } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import type { Frame, JournalTail } from '../archive/ports';
import { ChunkReader, type Readable } from './chunkReader';
import { decodeFrame, decodeHead, frameFits, HEAD_BYTES, readFully } from './frame';

/** A good line. Its text is made when somebody wants it: whoever only checks a journal must not pay for it. */
class ScannedFrame implements Frame {
  constructor(
    private bytes: Buffer,
    private start: number,
    public offset: number,
    public length: number,
    public crc: number,
  ) {}
  /** Makes it another line's, when nobody needs it any more. */
  reuse(bytes: Buffer, start: number, offset: number, length: number, crc: number): this {
    this.bytes = bytes;
    this.start = start;
    this.offset = offset;
    this.length = length;
    this.crc = crc;
    return this;
  }
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

/** Large enough for reading not to be mostly asking. */
const CHUNK_BYTES = 512 * 1024;
/** Small enough for what is done with these lines not to be felt by whoever shares the process. */
const PIECE_BYTES = 256 * 1024;

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
  // An object for each line of a long journal would cost the collector more than all checks.
  const old: ScannedFrame[] = [];
  let at = from;
  let want = CHUNK_BYTES;
  let rest: Buffer | undefined;
  try {
    while (at < size) {
      const bytes = await chunks.read(at, want, rest);
      // Fewer bytes than the size promised: somebody cut the file meanwhile.
      const short = bytes.length < Math.min(want, size - at);
      want = CHUNK_BYTES;
      const start = at;
      for (let piece: Piece = { frames: [], end: 0, then: 'go on' }; piece.then === 'go on';) {
        if (piece.end > 0) await setImmediate();
        piece = nextPiece({ bytes, start, size }, piece.end, old);
        if (piece.frames.length > 0) yield piece.frames;
        if (!keep) old.push(...piece.frames);
        at = start + piece.end;
        if (piece.then === 'bad') return { end: at, tail: await judgeTail(file, at, size) };
        if (typeof piece.then === 'number') want = Math.max(CHUNK_BYTES, piece.then);
      }
      if (short) return { end: at, tail: await judgeTail(file, at, size) };
      rest = bytes.subarray(at - start);
    }
    return { end: at, tail: { state: 'clean' } };
  } finally {
    await chunks.close();
  }
}

interface Chunk {
  readonly bytes: Buffer;
  /** Its place in the file. */
  readonly start: number;
  /** Where the file ends. */
  readonly size: number;
}
interface Piece {
  readonly frames: readonly ScannedFrame[];
  /** Behind its last line, in the chunk. */
  readonly end: number;
  /** What comes next: more good lines perhaps, nothing, a line that is not good, or one of so many bytes that goes on behind the chunk. */
  readonly then: 'go on' | 'end' | 'bad' | number;
}

/** The good lines of a chunk from `from` on, up to a piece. Objects of `old` are used again. */
function nextPiece({ bytes, start, size }: Chunk, from: number, old: ScannedFrame[]): Piece {
  const frames: ScannedFrame[] = [];
  let at = from;
  while (at < bytes.length) {
    if (at - from >= PIECE_BYTES) return { frames, end: at, then: 'go on' };
    const head = bytes.length - at < HEAD_BYTES ? undefined : decodeHead(bytes, at);
    const length = HEAD_BYTES + (head?.length ?? 0) + 1;
    if (start + at + length > size) return { frames, end: at, then: 'bad' };
    if (at + length > bytes.length) return { frames, end: at, then: length };
    if (head === undefined || !frameFits(bytes, at, head)) return { frames, end: at, then: 'bad' };
    const frame = old.pop()?.reuse(bytes, at, start + at, length, head.crc);
    frames.push(frame ?? new ScannedFrame(bytes, at, start + at, length, head.crc));
    at += length;
  }
  return { frames, end: at, then: 'end' };
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
