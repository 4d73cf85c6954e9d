import { parseEntry, type SessionEntry } from './entry';
import { isObject } from './json';

/** How every entry that Pi writes begins. Inside a text of an entry the quotes would be escaped. */
const BEGINNING = '{"type":"';
/** Beginnings tried on one line: a torn message can hold many blocks that begin alike. */
const TRIES = 1000;

/**
 * Pi appends without looking: after a line that was torn off, the next entry goes on the same line. Finds that
 * entry, whole, at the line's end; undefined when there is none.
 */
export function recoverFused(
  text: string,
  entryOf: (value: unknown) => SessionEntry | undefined,
): { readonly entry: SessionEntry; readonly value: unknown } | undefined {
  let at = text.indexOf(BEGINNING, 1);
  for (let tries = 0; at > 0 && tries < TRIES; tries++) {
    try {
      const value = JSON.parse(text.slice(at)) as unknown;
      // Every entry has a time of its own, no block inside one does: a torn line may well end with a whole block.
      const entry = isObject(value) && typeof value['timestamp'] === 'string' ? entryOf(value) : undefined;
      if (entry) return { entry, value };
    } catch {
      // Not the beginning of what the line ends with.
    }
    at = text.indexOf(BEGINNING, at + 1);
  }
  return undefined;
}

/** The value of the entry that stands whole behind an unfinished one; undefined for a line that is not such a one. */
export function fusedValue(text: string): unknown {
  return recoverFused(text, value => parseEntry(value))?.value;
}
