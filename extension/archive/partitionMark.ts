import type { PartitionOp, PartitionRuns } from './ops';

/** A partition as a commit left it. */
export interface PartitionMark {
  readonly runs: PartitionRuns;
  readonly target: number | null;
  readonly revision: number;
}

export const EMPTY_MARK: PartitionMark = { runs: [], target: null, revision: 0 };

/** The level of a part that a merge has taken away. */
const GONE = 255;
/** Far more lines than a view of any model holds. */
const MAX_LINES = 2 ** 24;

/**
 * The mark that a stored delta leads to from `base`: single records appended up to `total`, then the merges in their
 * order. Undefined when they do not fit, for then the delta belongs to another partition. Sizes play no part here:
 * what was decided by them is in the delta.
 */
export function continueMark(base: PartitionMark, total: number, op: PartitionOp): PartitionMark | undefined {
  const { target, revision, merges } = op;
  const before = recordsOfRuns(base.runs);
  if (total < before) return undefined;
  const runs = appended(base.runs, total - before);
  const merged = merges.length === 0 ? runs : mergedRuns(runs, merges);
  return merged && { runs: merged, target, revision };
}

/** How many records runs cover. Cheap whatever they say, so it is asked before they are spelt out. */
export function recordsOfRuns(runs: PartitionRuns): number {
  let total = 0;
  for (const [level, times] of runs) total += times * 2 ** level;
  return total;
}

/** Whether runs tile from record 0, as every partition does: each part starts at a multiple of its length. */
export function areTiled(runs: PartitionRuns): boolean {
  let total = 0;
  for (const [level, times] of runs) {
    const count = 2 ** level;
    if (times < 1 || times > MAX_LINES || total % count !== 0) return false;
    total += times * count;
    if (!Number.isSafeInteger(total)) return false;
  }
  return true;
}

/** Whether two partitions are the same. */
export function sameRuns(a: PartitionRuns, b: PartitionRuns): boolean {
  return a.length === b.length && a.every(([level, times], i) => level === b[i]?.[0] && times === b[i]?.[1]);
}

function appended(runs: PartitionRuns, records: number): PartitionRuns {
  if (records === 0) return runs;
  const last = runs.at(-1);
  return last?.[0] === 0 ? [...runs.slice(0, -1), [0, last[1] + records]] : [...runs, [0, records]];
}

function mergedRuns(runs: PartitionRuns, merges: PartitionOp['merges']): PartitionRuns | undefined {
  let length = 0;
  for (const [, times] of runs) length += times;
  if (length > MAX_LINES) return undefined;
  const starts = new Float64Array(length);
  const levels = new Uint8Array(length);
  let at = 0;
  let total = 0;
  for (const [level, times] of runs)
    for (let i = 0; i < times; i++, at++, total += 2 ** level) {
      starts[at] = total;
      levels[at] = level;
    }
  for (const [start, count] of merges) {
    // A parent takes its left half's place, so places are found by the first record for good.
    const left = placeOf(starts, start);
    const right = placeOf(starts, start + count / 2);
    const level = levels[left];
    if (level === undefined || level === GONE || levels[right] !== level || 2 ** (level + 1) !== count)
      return undefined;
    levels[left] = level + 1;
    levels[right] = GONE;
  }
  const out: [number, number][] = [];
  for (const level of levels) {
    if (level === GONE) continue;
    const last = out.at(-1);
    if (last?.[0] === level) last[1]++;
    else out.push([level, 1]);
  }
  return out;
}

/** Where a number stands in a growing list; -1 when it does not. */
function placeOf(list: Float64Array, number: number): number {
  let low = 0;
  let high = list.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const here = list[middle] as number;
    if (here === number) return middle;
    if (here < number) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
