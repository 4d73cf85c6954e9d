import { crc32 } from 'node:zlib';
import type { DiskFile } from './disk';

/** `<length><crc32> `: 8 hex digits each and a space (design.md section 4). */
export const HEAD_BYTES = 17;
/** Longest JSON of one line. A length above it is damage, so it also bounds what one bad line makes us read. */
export const MAX_JSON_BYTES = 256 * 1024 * 1024;

const LF = 0x0a;
const SPACE = 0x20;

export interface Head {
  /** Bytes of the JSON. */
  readonly length: number;
  readonly crc: number;
}

/** One line of a journal: head, JSON and LF. Throws a RangeError for text that cannot be framed. */
export function encodeFrame(json: string): Buffer {
  const length = Buffer.byteLength(json);
  if (length > MAX_JSON_BYTES)
    throw new RangeError(`A line of ${length} bytes is longer than a journal takes.`);
  // Recovery looks for `{` behind a head, and for no LF inside a line.
  if (!json.startsWith('{') || json.includes('\n'))
    throw new RangeError('A journal takes JSON objects on one line.');
  const line = Buffer.allocUnsafe(HEAD_BYTES + length + 1);
  line.write(json, HEAD_BYTES, 'utf8');
  const body = line.subarray(HEAD_BYTES, HEAD_BYTES + length);
  line.write(`${hex8(length)}${hex8(crc32(body))} `, 0, 'latin1');
  line[HEAD_BYTES + length] = LF;
  return line;
}

function hex8(n: number): string {
  return n.toString(16).padStart(8, '0');
}

/** Reads the head at `at`; undefined when these bytes are none. `bytes` must hold all 17. */
export function decodeHead(bytes: Uint8Array, at: number): Head | undefined {
  if (bytes[at + HEAD_BYTES - 1] !== SPACE) return undefined;
  const length = readHex8(bytes, at);
  const crc = readHex8(bytes, at + 8);
  if (length === undefined || crc === undefined || length > MAX_JSON_BYTES) return undefined;
  return { length, crc };
}

/** What a byte is as a digit; 16 for none. Lower case only: one form for each number, so that a flipped bit of a digit is always seen. */
const DIGITS = Uint8Array.from({ length: 256 }, (_, c) => {
  const digit = '0123456789abcdef'.indexOf(String.fromCharCode(c));
  return digit < 0 ? 16 : digit;
});

function readHex8(bytes: Uint8Array, at: number): number | undefined {
  let n = 0;
  let all = 0;
  for (let i = at; i < at + 8; i++) {
    const digit = DIGITS[bytes[i] as number] as number;
    all |= digit;
    n = (n << 4) | digit;
  }
  return all < 16 ? n >>> 0 : undefined;
}

/** Whether checksum and LF of the line at `at` are right. `bytes` must hold the whole line. */
export function frameFits(bytes: Buffer, at: number, { length, crc }: Head): boolean {
  const from = at + HEAD_BYTES;
  // A plain window: one of Buffer's own takes several times as long to make, and there is one for each line.
  return (
    bytes[from + length] === LF &&
    crc32(new Uint8Array(bytes.buffer, bytes.byteOffset + from, length)) === crc
  );
}

/** The JSON's bytes of exactly one line, or undefined when length, checksum or LF are wrong. */
export function decodeFrame(line: Buffer): Buffer | undefined {
  if (line.length <= HEAD_BYTES) return undefined;
  const head = decodeHead(line, 0);
  return head !== undefined && line.length === HEAD_BYTES + head.length + 1 && frameFits(line, 0, head)
    ? line.subarray(HEAD_BYTES, HEAD_BYTES + head.length)
    : undefined;
}

/** Reads `length` bytes at `at`, or fewer where the file ends; into `buffer` when that is long enough. */
export async function readFully(
  file: Pick<DiskFile, 'read'>,
  at: number,
  length: number,
  buffer?: Buffer,
): Promise<Buffer> {
  const bytes =
    buffer !== undefined && buffer.length >= length ? buffer.subarray(0, length) : Buffer.allocUnsafe(length);
  let got = 0;
  while (got < length) {
    const n = await file.read(bytes.subarray(got), at + got);
    if (n === 0) break;
    got += n;
  }
  return bytes.subarray(0, got);
}
