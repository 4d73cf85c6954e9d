/**
 * An aligned run of records: `count` is a power of two and `start` a multiple of it (spec/archive.md 2.1).
 * Written `start+count`; covers the records start … start+count-1.
 */
export interface Address {
  readonly start: number;
  readonly count: number;
}

const HALF = 2 ** 31;

/**
 * The power of two that `count` is, or -1. Exact up to 2^53: a floating logarithm would take 2^49+1 for a power of
 * two. Bit operators see 32 bits only, so larger counts are first divided by 2^31, which is exact when they qualify.
 */
function exponentOf(count: number): number {
  if (!Number.isSafeInteger(count) || count < 1) return -1;
  if (count <= HALF) return count === HALF ? 31 : (count & (count - 1)) === 0 ? 31 - Math.clz32(count) : -1;
  if (count % HALF !== 0) return -1;
  const high = count / HALF;
  return (high & (high - 1)) === 0 ? 62 - Math.clz32(high) : -1;
}

/** Whether these two numbers name a run: spec/archive.md 2.1, including start+count <= 2^53-1. */
export function isAddress(start: number, count: number): boolean {
  return (
    Number.isSafeInteger(start) &&
    start >= 0 &&
    exponentOf(count) >= 0 &&
    start % count === 0 &&
    Number.isSafeInteger(start + count)
  );
}

export function formatAddress(a: Address): string {
  return `${a.start}+${a.count}`;
}

/** The run of twice the length that holds `a`. No address itself when it would end beyond 2^53-1. */
export function parentOf(a: Address): Address {
  const count = a.count * 2;
  return { start: a.start - (a.start % count), count };
}

/** Both halves, older first; a single record has none. */
export function childrenOf(a: Address): readonly [Address, Address] | undefined {
  if (a.count === 1) return undefined;
  const count = a.count / 2;
  return [
    { start: a.start, count },
    { start: a.start + count, count },
  ];
}

/** Whether the parts cover the records 0 … total-1 once each, in order (spec/archive.md 2.1). */
export function tiles(parts: readonly Address[], total: number): boolean {
  let end = 0;
  for (const { start, count } of parts) {
    if (start !== end || !isAddress(start, count)) return false;
    end += count;
  }
  return end === total;
}

/** The level of a run in the tree: 0 for a single record, one more for each doubling. Throws when it is no run. */
export function levelOf(count: number): number {
  const level = exponentOf(count);
  if (level < 0) throw new RangeError(`${count} records cannot be a run: not a power of two`);
  return level;
}
