import type { Branch } from './branch';
import type { Chain } from './ids';
import type { TokenUsage } from './ops';
import type { ArchiveState } from './state';

/** What is true of an archive now; plain JSON. */
export interface ArchiveStatus {
  /** Whether memory is on. */
  readonly memory: boolean;
  /** The branch these figures are about. */
  readonly branch: Chain;
  readonly records: number;
  /** Lines built over them, of whatever size. */
  readonly nodes: number;
  /** Records whose own line is built. */
  readonly summarized: number;
  /** Lines that only a model can write and has not yet, and those that wait for them. */
  readonly missing: number;
  readonly branches: number;
  readonly sources: number;
  /** Finished messages that are in no branch. */
  readonly orphans: number;
  readonly turns: number;
  /** The newest frozen view; null before the first. */
  readonly view: {
    readonly turn: number;
    readonly records: number;
    readonly lines: number;
    readonly bytes: number;
    readonly budget: number;
  } | null;
  readonly summaries: { readonly lines: number; readonly usage: TokenUsage };
  /** Why nothing can be written; null while all is well. */
  readonly damage: string | null;
}

export function statusOf(
  state: ArchiveState,
  branch: Branch,
  memory: boolean,
  damage: string | undefined,
): ArchiveStatus {
  const last = state.turns.at(-1);
  return {
    memory,
    branch: branch.chain,
    records: branch.records,
    nodes: branch.built,
    summarized: branch.processed,
    missing: branch.missing,
    branches: state.tipCount,
    sources: state.sources,
    orphans: state.orphans,
    turns: state.turns.length,
    view: last
      ? {
          turn: last.number,
          records: last.receipt.records,
          lines: last.receipt.parts.reduce((lines, [, times]) => lines + times, 0),
          bytes: last.receipt.bytes,
          budget: last.receipt.budget,
        }
      : null,
    summaries: { lines: state.modelLines, usage: state.summaryUsage },
    damage: damage ?? null,
  };
}
