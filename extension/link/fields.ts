/** The building blocks of the validators: each takes an unknown value and gives it back typed, or undefined. */

export type Fields = { readonly [name: string]: unknown };

export function fields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** A text of at most `max` UTF-16 units. */
export function text(value: unknown, max: number): string | undefined {
  return typeof value === 'string' && value.length <= max ? value : undefined;
}

/** A text that names something: not empty, and without the NUL that separates parts where names are hashed. */
export function name(value: unknown, max: number): string | undefined {
  return text(value, max) && !(value as string).includes('\0') ? (value as string) : undefined;
}

/** A whole number from 0 to `max`. */
export function count(value: unknown, max: number = Number.MAX_SAFE_INTEGER): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= max
    ? value
    : undefined;
}

export function flag(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

/** `length` lower-case hex digits. */
export function hex(value: unknown, length: number): string | undefined {
  return typeof value === 'string' && value.length === length && /^[0-9a-f]*$/.test(value)
    ? value
    : undefined;
}

/** At most `max` items, every one of which passes. */
export function list<T>(
  value: unknown,
  max: number,
  item: (v: unknown) => T | undefined,
): readonly T[] | undefined {
  if (!Array.isArray(value) || value.length > max) return undefined;
  const items: T[] = [];
  for (const v of value as unknown[]) {
    const parsed = item(v);
    if (parsed === undefined) return undefined;
    items.push(parsed);
  }
  return items;
}

/** An absent field stays absent; a present one has to pass. */
export function optional<T>(
  value: unknown,
  parse: (v: unknown) => T | undefined,
): { ok: boolean; value?: T } {
  if (value === undefined) return { ok: true };
  const parsed = parse(value);
  return parsed === undefined ? { ok: false } : { ok: true, value: parsed };
}
