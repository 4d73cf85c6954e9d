/** Bytes of a page when nobody asks for another size (spec/archive.md 7.2). */
const PAGE_BYTES = 24_000;
const MIN_PAGE_BYTES = 4;
const MAX_PAGE_BYTES = 30_000;

/** A piece of a long text. */
export interface Page {
  readonly text: string;
  /** Bytes of the whole text. */
  readonly bytes: number;
  /** Offset of the page after this one; null on the last. */
  readonly next: number | null;
}

/**
 * The page of at most `limit` UTF-8 bytes that starts at byte `offset`. It ends on a code point, so that pages joined
 * are the text; grapheme clusters may be cut. An offset at the end gives an empty last page. Undefined for an offset
 * past the end or inside a code point, and for a limit outside 4 to 30,000.
 */
export function pageOf(text: string, offset: number, limit = PAGE_BYTES): Page | undefined {
  if (!Number.isSafeInteger(limit) || limit < MIN_PAGE_BYTES || limit > MAX_PAGE_BYTES) return undefined;
  const bytes = Buffer.from(text, 'utf8');
  if (!Number.isSafeInteger(offset) || offset < 0 || offset > bytes.length) return undefined;
  if (continuesCodePoint(bytes, offset)) return undefined;
  let end = Math.min(bytes.length, offset + limit);
  while (continuesCodePoint(bytes, end)) end--;
  const next = end < bytes.length ? end : null;
  return { text: bytes.toString('utf8', offset, end), bytes: bytes.length, next };
}

/** UTF-8: bytes 10xxxxxx belong to the code point before them. */
function continuesCodePoint(bytes: Buffer, at: number): boolean {
  return at < bytes.length && ((bytes[at] as number) & 0xc0) === 0x80;
}
