import type { PartitionOp, PartitionRuns } from './ops';
import { Partition, partsOfRuns, runsOf } from './partition';

/** A partition as a commit left it. */
export interface PartitionMark {
  readonly runs: PartitionRuns;
  readonly target: number | null;
  readonly revision: number;
}

export const EMPTY_MARK: PartitionMark = { runs: [], target: null, revision: 0 };

/**
 * The mark that a stored delta leads to from `base`: single records appended up to `total`, then the merges in their
 * order. Undefined when they do not fit, for then the delta belongs to another partition. Sizes play no part here:
 * what was decided by them is in the delta.
 */
export function continueMark(base: PartitionMark, total: number, op: PartitionOp): PartitionMark | undefined {
  const noBytes = () => 0;
  const { target, revision } = op;
  try {
    const partition = Partition.fromParts(partsOfRuns(base.runs), noBytes, base.target, base.revision);
    if (total < partition.total) return undefined;
    for (let start = partition.total; start < total; start++) partition.append({ start, count: 1 }, 0);
    const merges = op.merges.map(([start, count]) => ({ start, count }));
    partition.replay(merges, noBytes, target, revision);
    return { runs: runsOf(partition), target, revision };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** How many records runs cover. Cheap whatever they say, so it is asked before they are spelt out. */
export function recordsOfRuns(runs: PartitionRuns): number {
  return runs.reduce((total, [level, times]) => total + times * 2 ** level, 0);
}
