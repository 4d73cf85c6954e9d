import { formatAddress, type Address } from '../../extension/archive/address';
import { nextChain, sourceKey } from '../../extension/archive/canonical';
import { ROOT_CHAIN, type Chain, type EntryId } from '../../extension/archive/ids';
import type { StoredMessage } from '../../extension/archive/message';
import type { Op } from '../../extension/archive/ops';
import { ArchiveState } from '../../extension/archive/state';
import { fieldsOf, type Handler } from './vector';

/** Records of the branch that is forked. */
const RECORDS = 30;

/** Too long for a line of its own, so that a model writes every line. */
function message(text: string): StoredMessage {
  return { role: 'user', content: [{ type: 'text', text: text.padEnd(600, '.') }], timestamp: 1 };
}

/** Too long to be joined with its neighbour. */
function lineText(a: Address): string {
  return formatAddress(a).padEnd(300, '.');
}

/** Every address within so many records, by count, then by start. */
function addressesWithin(records: number): Address[] {
  const out: Address[] = [];
  for (let count = 1; count <= records; count *= 2)
    for (let start = 0; start + count <= records; start += count) out.push({ start, count });
  return out;
}

/** Which lines a case leaves out, in the file's words. */
function isMissing(a: Address, missing: readonly string[]): boolean {
  return missing.some(word => {
    const [, record] = /^every node covering record (\d+)$/.exec(word) ?? [];
    if (record === undefined) return word === formatAddress(a);
    return a.start <= Number(record) && Number(record) < a.start + a.count;
  });
}

function forked(common: number, missing: readonly string[]): object {
  const state = new ArchiveState(() => Promise.reject(new Error('no text is read here')));
  const apply = (...ops: Op[]): void => {
    const wrong = state.apply({ n: state.commits, at: 1, ops }, { offset: state.commits, length: 1 });
    if (wrong !== undefined) throw new Error(wrong);
  };
  const bind = (after: Chain, text: string): Chain => {
    const said = message(text);
    const chain = nextChain(after, sourceKey(said));
    apply({ op: 'bind', after, chain, entry: text as EntryId, message: said });
    return chain;
  };
  const chains: Chain[] = [];
  for (let i = 0; i < RECORDS; i++) chains.push(bind(chains.at(-1) ?? ROOT_CHAIN, `record ${i}`));
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };
  const by = { model: 'a model', promptVersion: 1, attempts: 1, usage, at: 1 };
  for (const a of addressesWithin(RECORDS)) {
    if (isMissing(a, missing)) continue;
    const end = { chain: chains[a.start + a.count - 1] as Chain, ordinal: 0 };
    apply({ op: 'node', end, count: a.count, text: lineText(a), oversized: false, clipped: false, by });
  }
  const branch = state.branch(bind(chains[common - 1] ?? ROOT_CHAIN, 'another way'));
  if (!branch) throw new Error('the fork is no branch');
  const processed = Math.min(common, branch.processed);
  // What the fork finds written: nodes are shared by where they end, so nothing is copied.
  const nodes = addressesWithin(processed).filter(a => state.hasLine(branch.endOf(a), a.count));
  return { common, processed, nodes: nodes.map(formatAddress), count: nodes.length };
}

export const prefix_reuse: Handler = vector => {
  const { input, missing, expect } = fieldsOf<{
    input: { common: number }[];
    missing: string[][];
    expect: object[];
  }>(vector);
  return { expected: expect, actual: input.map(({ common }, i) => forked(common, missing[i] ?? [])) };
};
