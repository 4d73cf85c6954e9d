import type { Branch } from './branch';
import { CompactorContext } from './compactorContext';
import type { Chain } from './ids';
import { Partition, partsOfRuns } from './partition';
import type { ArchiveState } from './state';

interface Working {
  /** The chain whose stored partition this one continues. */
  readonly base: Chain;
  readonly partition: Partition;
  /** The branch whose leaves it holds. */
  readonly branch: Branch;
  readonly context?: { readonly bytes: number; readonly lines: CompactorContext };
}

/**
 * The partition of the branch in use, ready to be evaluated, so that a turn costs what is new in it. A cache of what
 * the journal says: dropped and made again whenever the branch changes or a commit fails.
 */
export class WorkingPartition {
  #working: Working | undefined;

  constructor(private readonly state: ArchiveState) {}

  /** The partition over all built leaves of a branch, and the chain it continues. */
  over(branch: Branch): { readonly base: Chain; readonly partition: Partition } {
    const { chain: base, mark } = this.state.mark(branch.chain);
    const old = this.#working;
    const usable = old && old.base === base && continues(branch, old);
    const partition = usable
      ? old.partition
      : Partition.fromParts(partsOfRuns(mark.runs), a => branch.lineBytes(a), mark.target, mark.revision);
    for (let start = partition.total; start < branch.processed; start++)
      partition.append({ start, count: 1 }, branch.lineBytes({ start, count: 1 }));
    const context = usable ? old.context : undefined;
    this.#working = { base, partition, branch, ...(context && { context }) };
    return { base, partition };
  }

  /** The compactor's partition beside it, of an archive with that view budget in bytes. */
  contextFor(branch: Branch, viewBytes: number): CompactorContext {
    const { partition } = this.over(branch);
    const working = this.#working as Working;
    const lines =
      working.context?.bytes === viewBytes ? working.context.lines : new CompactorContext(viewBytes);
    this.#working = { ...working, context: { bytes: viewBytes, lines } };
    lines.follow(partition, branch);
    return lines;
  }

  /** The partition is stored now, at that chain. */
  committed(chain: Chain): void {
    if (this.#working) this.#working = { ...this.#working, base: chain };
  }

  forget(): void {
    this.#working = undefined;
  }
}

/** Whether every record the old partition covers is a record of this branch, too. */
function continues(branch: Branch, old: Working): boolean {
  const { total } = old.partition;
  return total === 0 || branch.holds(old.branch.sourceOf(total - 1));
}
