export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Deeper than any tool's arguments; far from where `JSON.stringify` runs out of stack (about 4,000). */
const MAX_DEPTH = 1000;
const TOO_DEEP = `[nested more than ${MAX_DEPTH} levels deep]`;

/**
 * The same text without lone surrogates: each becomes U+FFFD. A lone surrogate has no UTF-8 form, and encoding it
 * gives just that character, while JSON keeps it as an escape. Replaced once at the door, a text has the same bytes
 * in a journal, a hash, a view and a page.
 */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD');
}

/** Whether a value is an object that is no list. */
export function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A copy of a foreign value that holds only JSON, with well-formed texts. What JSON cannot hold is treated as
 * `JSON.stringify` does: a property is left out, an element becomes null. Nesting beyond 1,000 levels, which nothing
 * after this could write to a journal, becomes a text that says so. Names keep their order, which a tool record's
 * text depends on.
 */
export function plainJson(value: unknown, depth = 0): Json | undefined {
  switch (typeof value) {
    case 'string':
      return wellFormed(value);
    case 'boolean':
      return value;
    case 'number':
      // -0 and the non-finite would not survive a journal.
      return Number.isFinite(value) ? value + 0 : null;
    case 'object':
      break;
    default:
      return undefined;
  }
  if (value === null) return null;
  if (depth >= MAX_DEPTH) return TOO_DEEP;
  if (Array.isArray(value)) return Array.from(value, item => plainJson(item, depth + 1) ?? null);
  const fields: [string, Json][] = [];
  for (const [name, field] of Object.entries(value)) {
    const copy = plainJson(field, depth + 1);
    if (copy !== undefined) fields.push([wellFormed(name), copy]);
  }
  // Not by assignment: a field named `__proto__` would set the copy's prototype and vanish.
  return Object.fromEntries(fields);
}
