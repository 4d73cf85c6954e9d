import { codePointCut, utf8Bytes } from './text';

/**
 * A record too large for the compactor, as its first two thirds and last third of `maxBytes` around a notice that
 * says how many bytes are left out (spec/archive.md 3.6). Only the compactor is shown this; the original stays whole
 * for zoom and search. Undefined when the text fits.
 */
export function clipForCompactor(raw: string, maxBytes: number): string | undefined {
  const total = utf8Bytes(raw);
  if (total <= maxBytes) return undefined;
  const headBytes = Math.ceil((maxBytes * 2) / 3);
  const head = codePointCut(raw, headBytes);
  const tail = codePointTail(raw, maxBytes - headBytes);
  const omitted = total - utf8Bytes(head) - utf8Bytes(tail);
  return `${head}\n[${omitted} bytes of this record are left out here]\n${tail}`;
}

/** The longest end of a text, of at most `maxBytes` bytes, that starts on a code point. */
function codePointTail(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  let start = Math.max(0, bytes.length - maxBytes);
  // Bytes 10xxxxxx continue a code point that began before.
  while (start < bytes.length && ((bytes[start] as number) & 0xc0) === 0x80) start++;
  return bytes.toString('utf8', start);
}
