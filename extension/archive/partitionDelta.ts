import type { PartitionRuns } from './ops';

/** A partition as it stood after a commit. */
export interface PartitionMark {
  readonly runs: PartitionRuns;
  /** Records covered. */
  readonly total: number;
  readonly target: number | null;
  readonly revision: number;
}

export const EMPTY_PARTITION: PartitionMark = { runs: [], total: 0, target: null, revision: 0 };

/**
 * The partition that a delta leads to: single records up to `total` appended to `base`, then the merges in order.
 * Undefined when a merge does not find its two halves, or `total` is smaller than what `base` covers: such a delta
 * belongs to another partition.
 */
export function continueRuns(
  base: PartitionMark,
  total: number,
  merges: readonly (readonly [start: number, count: number])[],
): PartitionRuns | undefined {
  if (total < base.total) return undefined;
  if (merges.length === 0) return runsOfCounts(countsOf(base, total));
  const counts = new Map<number, number>();
  let start = 0;
  for (const count of countsOf(base, total)) {
    counts.set(start, count);
    start += count;
  }
  for (const [at, count] of merges) {
    const half = count / 2;
    if (counts.get(at) !== half || counts.get(at + half) !== half) return undefined;
    counts.set(at, count);
    counts.delete(at + half);
  }
  const merged: number[] = [];
  for (let at = 0; at < total;) {
    const count = counts.get(at) as number;
    merged.push(count);
    at += count;
  }
  return runsOfCounts(merged);
}

/** How many records runs cover; they imply their own starts. */
export function recordsOfRuns(runs: PartitionRuns): number {
  return runs.reduce((total, [level, times]) => total + times * 2 ** level, 0);
}

function* countsOf(base: PartitionMark, total: number): Iterable<number> {
  for (const [level, times] of base.runs) for (let i = 0; i < times; i++) yield 2 ** level;
  for (let i = base.total; i < total; i++) yield 1;
}

function runsOfCounts(counts: Iterable<number>): PartitionRuns {
  const runs: [level: number, times: number][] = [];
  for (const count of counts) {
    const level = Math.log2(count);
    const last = runs.at(-1);
    if (last && last[0] === level) last[1]++;
    else runs.push([level, 1]);
  }
  return runs;
}
