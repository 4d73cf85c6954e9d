const SYNTAX = /[\\^$.*+?()[\]{}|/]/g;
const BEFORE = 80;
const AFTER = 180;

/**
 * Finds a text literally, without regard to case: code point by code point, by Unicode's simple case folding, which
 * never changes a length, so a place found is a place in the original.
 */
export class LiteralSearch {
  readonly #pattern: RegExp;

  constructor(query: string) {
    // With both flags the engine folds as said above, and never matches half of a surrogate pair.
    this.#pattern = new RegExp(query.replace(SYNTAX, '\\$&'), 'iu');
  }

  /** What stands around the first match, about 80 UTF-16 units before it and 180 after; undefined without a match. */
  snippet(text: string): string | undefined {
    const match = this.#pattern.exec(text);
    if (!match) return undefined;
    const { index } = match;
    let start = Math.max(0, index - BEFORE);
    let end = Math.min(text.length, Math.max(index + AFTER, index + match[0].length));
    if (cutsPair(text, start)) start--;
    if (cutsPair(text, end)) end++;
    return text.slice(start, end);
  }
}

/** Whether a surrogate pair stands across this place. */
function cutsPair(text: string, at: number): boolean {
  return at > 0 && at < text.length && (text.codePointAt(at - 1) as number) > 0xffff;
}
