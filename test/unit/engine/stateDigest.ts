import assert from 'node:assert/strict';
import { formatAddress, type Address } from '../../../extension/archive/address';
import type { Branch } from '../../../extension/archive/branch';
import { rebuildView } from '../../../extension/archive/frozenText';
import type { ArchiveState } from '../../../extension/archive/state';
import { oneLine, utf8Bytes } from '../../../extension/archive/text';
import { lineOf } from '../../../extension/archive/view';

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
        lines[formatAddress({ start, count })] = await wholeLine(branch, { start, count });
    const { missing, processed, chain } = branch;
    const waiting = [...branch.waiting()].map(formatAddress).sort();
    branches.push({ chain, records, lines, missing, processed, waiting, mark: state.mark(chain) });
  }
  return {
    branches,
    turns: await Promise.all(
      state.turns.map(async turn => ({ ...turn, view: await rebuildView(state, turn.receipt) })),
    ),
    newest: state.newest,
    mode: state.mode,
    commits: state.commits,
    sources: state.sources,
    orphans: state.orphans,
    modelLines: state.modelLines,
    usage: state.summaryUsage,
    firstPrompt: state.firstPrompt,
  };
}

/** What is kept of a line with what is read of it; null when it is not built. */
async function wholeLine(branch: Branch, a: Address): Promise<unknown> {
  const line = branch.line(a);
  if (!line) return null;
  const text = await branch.lineText(a);
  const shown = oneLine(text);
  assert.equal(line.textBytes, utf8Bytes(text));
  assert.equal(line.shownBytes, utf8Bytes(shown));
  assert.equal(line.bytes, utf8Bytes(lineOf(a, text)));
  return { ...line, text, model: (await branch.modelLine(a)) ?? null };
}
