const LINE_SPACE = /\s+/g;
const encoder = new TextEncoder();

/**
 * One line: each maximal run of ECMAScript white space becomes one space and the ends are trimmed (spec/archive.md
 * 2.2). `\s` and `trim` agree on the set, which includes U+00A0 and U+FEFF and excludes U+0085 and U+200B.
 */
export function oneLine(text: string): string {
  return text.replace(LINE_SPACE, ' ').trim();
}

/** The length in UTF-8 bytes, the only size this project counts in. */
export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** The longest prefix of at most `maxBytes` UTF-8 bytes that cuts no code point. Grapheme clusters may be cut. */
export function codePointCut(text: string, maxBytes: number): string {
  if (maxBytes <= 0) return '';
  // A UTF-16 unit takes at most three bytes, so this many units surely fit and nothing needs measuring.
  if (text.length * 3 <= maxBytes) return text;
  // `encodeInto` stops before the first code point that does not fit.
  const { read } = encoder.encodeInto(text, new Uint8Array(Math.min(maxBytes, text.length * 3)));
  return text.slice(0, read);
}
