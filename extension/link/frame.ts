/** Bounds of one connection, in bytes. */
export const HELLO_BYTES = 4 * 1024;
export const MESSAGE_BYTES = 16 * 1024 * 1024;
/** Of both kinds together: what waits for an answer, and what waits to be read by the other side. */
export const IN_FLIGHT_BYTES = 64 * 1024 * 1024;
/** A message larger than `MESSAGE_BYTES` travels in parts of this size, the last one being what is left. */
export const PART_BYTES = 8 * 1024 * 1024;

export const HEADER_PREFIX = Buffer.from('Content-Length: ', 'latin1');
export const MAX_HEADER_BYTES = 64;
const HEADER = /^Content-Length: (\d{1,8})\r\n(?:Part: (\d{1,2})\/(\d{1,8})\r\n)?\r\n$/;

/** What a header says is coming: a message, or part `index` of a message of `total` bytes. */
export type Announced =
  | { readonly kind: 'whole'; readonly bytes: number }
  | { readonly kind: 'part'; readonly bytes: number; readonly index: number; readonly total: number };

/** Undefined for anything that is no header. Whether its numbers are allowed is another question. */
export function parseHeader(text: string): Announced | undefined {
  const [, bytes, index, total] = HEADER.exec(text) ?? [];
  if (bytes === undefined) return undefined;
  return index === undefined || total === undefined
    ? { kind: 'whole', bytes: Number(bytes) }
    : { kind: 'part', bytes: Number(bytes), index: Number(index), total: Number(total) };
}

/** An encoded message as it goes over the wire: headers and bodies by turns. Nothing may come between its parts. */
export function framesOf(message: Buffer): readonly Uint8Array[] {
  if (message.length <= MESSAGE_BYTES)
    return [Buffer.from(`Content-Length: ${message.length}\r\n\r\n`, 'latin1'), message];
  const out: Uint8Array[] = [];
  for (let index = 0, at = 0; at < message.length; index++, at += PART_BYTES) {
    const body = message.subarray(at, at + PART_BYTES);
    const header = `Content-Length: ${body.length}\r\nPart: ${index}/${message.length}\r\n\r\n`;
    out.push(Buffer.from(header, 'latin1'), body);
  }
  return out;
}

/** Why this part can't be the next one; undefined when it is. `received` are the bytes of the parts before it. */
export function partProblem(
  part: Extract<Announced, { kind: 'part' }>,
  before: { readonly total: number; readonly received: number } | undefined,
): string | undefined {
  const { bytes, index, total } = part;
  if (total <= MESSAGE_BYTES || total > IN_FLIGHT_BYTES) return 'a message in parts of a wrong size';
  if (index === 0 ? before !== undefined : before?.total !== total || before.received !== index * PART_BYTES)
    return 'a part out of order';
  return bytes === Math.min(PART_BYTES, total - index * PART_BYTES) ? undefined : 'a part of a wrong size';
}
