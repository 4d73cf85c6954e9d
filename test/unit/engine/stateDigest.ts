import { formatAddress } from '../../../extension/archive/address';
import { rebuildView } from '../../../extension/archive/frozenText';
import type { ArchiveState } from '../../../extension/archive/state';

/** Everything a state says, as plain JSON, to be compared with another state of the same journal. */
export async function digest(state: ArchiveState): Promise<unknown> {
  const branches = [];
  for (const tip of state.tips()) {
    const branch = state.branch(tip.chain);
    if (!branch) throw new Error('a tip without a branch');
    const records = [];
    for (let i = 0; i < branch.records; i++)
      records.push({ ...branch.record(i), raw: await branch.raw(i), entry: branch.sourceOf(i).entry });
    const lines: Record<string, unknown> = {};
    for (let count = 1; count <= branch.records; count *= 2)
      for (let start = 0; start + count <= branch.records; start += count)
        lines[formatAddress({ start, count })] = branch.line({ start, count }) ?? null;
    const { missing, processed, chain } = branch;
    const waiting = [...branch.waiting()].map(formatAddress).sort();
    branches.push({ chain, records, lines, missing, processed, waiting, mark: state.mark(chain) });
  }
  return {
    branches,
    turns: state.turns.map(turn => ({ ...turn, view: rebuildView(state, turn.receipt) })),
    newest: state.newest,
    mode: state.mode,
    commits: state.commits,
    sources: state.sources,
    orphans: state.orphans,
    modelLines: state.modelLines,
    usage: state.summaryUsage,
  };
}
