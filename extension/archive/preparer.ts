import { ArchiveError } from './archiveError';
import type { Write } from './binder';
import type { Branch } from './branch';
import { archiveBudgets, BYTES_PER_TOKEN, MIN_VIEW_BYTES, turnBudget } from './budget';
import { Build } from './build';
import { sha256Hex } from './canonical';
import { frozenText, rebuildView, viewLines } from './frozenText';
import type { TurnId } from './ids';
import { Lenders } from './borrowedLines';
import type { NodeOp, Op } from './ops';
import { runsOf } from './partition';
import type { Clock, Compactor, JournalSource, Log } from './ports';
import { decideReceipt } from './receiptDecision';
import type { FrozenView, ModelLimits, PrepareRequest, Progress } from './requests';
import { Serial } from './serial';
import type { ArchiveState } from './state';
import type { Sleep } from './summaryJob';
import { utf8Bytes } from './text';
import { WorkingPartition } from './workingPartition';

export interface PreparerTools {
  readonly state: ArchiveState;
  readonly clock: Clock;
  readonly log: Log;
  readonly write: Write;
  /** The archive's view budget in bytes. */
  readonly viewBytes: number;
  readonly sleep: Sleep;
  /** Archives of sessions that this one began as. */
  readonly related: () => Promise<readonly JournalSource[]>;
}

/** What one model allows. */
interface Limits {
  readonly budget: number;
  readonly contextBytes: number;
  readonly maxInputBytes: number;
  readonly maxOutputTokens: number;
}

/**
 * Freezes views. One at a time, builds included: what two turns want of a partition would otherwise mix. A second
 * request for the same turn waits and finds the first one's receipt.
 */
export class Preparer {
  readonly #turns = new Serial();
  readonly #working: WorkingPartition;
  readonly #lenders: Lenders;
  readonly #watchers = new Set<(p: Progress) => void>();
  readonly #closing = new AbortController();
  #background = new AbortController();
  #limits: Limits | undefined;

  constructor(private readonly tools: PreparerTools) {
    this.#working = new WorkingPartition(tools.state);
    this.#lenders = new Lenders(tools.related, tools.log);
  }

  /** See `Archive.prepare`. Esc is obeyed at once, also while another request is served. */
  async prepare(
    request: PrepareRequest,
    compactor: Compactor,
    progress: (p: Progress) => void,
    signal: AbortSignal,
  ): Promise<FrozenView> {
    const cancelled = new ArchiveError(
      'cancelled',
      'Preparing memory was cancelled. What is summarised so far is kept.',
    );
    const either = AbortSignal.any([signal, this.#closing.signal]);
    if (either.aborted) throw cancelled;
    let onAbort = (): void => {};
    const aborted = new Promise<never>((_, reject) => {
      onAbort = () => {
        // It pays for calls nobody waits for any more (spec/archive.md 10.3).
        this.#background.abort();
        reject(cancelled);
      };
      either.addEventListener('abort', onAbort);
    });
    this.#watchers.add(progress);
    try {
      return await Promise.race([
        this.#turns.run(() => this.#prepare(request, compactor, either, cancelled)),
        aborted,
      ]);
    } finally {
      this.#watchers.delete(progress);
      either.removeEventListener('abort', onAbort);
    }
  }

  /**
   * Builds what a branch lacks without anybody waiting, within the limits of the last prepared turn; a turn that is
   * prepared meanwhile waits for it and goes on from there.
   */
  build(branch: Branch, compactor: Compactor): void {
    const { signal } = this.#background.signal.aborted
      ? (this.#background = new AbortController())
      : this.#background;
    this.#turns
      .run(async () => {
        if (this.#limits && !signal.aborted) await this.#build(branch, compactor, this.#limits, signal);
      })
      .catch((error: unknown) =>
        this.tools.log.warn(`Memory could not be brought up to date: ${String(error)}`),
      );
  }

  /** Ends all work. What is published stays. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#background.abort();
    await this.#turns.idle();
  }

  async #prepare(
    request: PrepareRequest,
    compactor: Compactor,
    signal: AbortSignal,
    cancelled: ArchiveError,
  ): Promise<FrozenView> {
    const { turn, chain, model } = request;
    const { state } = this.tools;
    switch (decideReceipt(chain, state.turn(turn)?.receipt.chain)) {
      case 'reject':
        throw historyChanged();
      case 'reuse':
      case 'winner':
        return this.#viewOf(turn);
      case 'prepare':
        break;
    }
    await state.ready(chain);
    const branch = state.branch(chain);
    if (!branch) throw new ArchiveError('invalid', `This archive has no branch ${chain}.`);
    this.#limits = limitsOf(model, this.tools.viewBytes);
    await this.#build(branch, compactor, this.#limits, signal);
    if (signal.aborted) throw cancelled;
    await this.#freeze(turn, branch, this.#limits.budget);
    return this.#viewOf(turn);
  }

  async #build(branch: Branch, compactor: Compactor, limits: Limits, cancel: AbortSignal): Promise<void> {
    const { state, clock, sleep, write } = this.tools;
    const publish = (nodes: readonly NodeOp[]): Promise<void> =>
      write(() => nodes.filter(({ end, count }) => !state.hasLine(end, count)));
    if (branch.missing > 0) await this.#lenders.lend(branch, { state, publish, cancel });
    if (branch.missing === 0) return;
    const build = new Build(branch, {
      publish,
      compactor,
      clock,
      sleep,
      cancel,
      context: this.#working.contextFor(branch, limits.contextBytes),
      maxInputBytes: limits.maxInputBytes,
      maxOutputTokens: limits.maxOutputTokens,
      progress: p => this.#report(p),
    });
    try {
      await build.run();
    } catch (error) {
      if (!(error instanceof ArchiveError) || error.code !== 'prepare') throw error;
      throw new ArchiveError(
        'prepare',
        `Memory could not be prepared: ${error.message}. Nothing was sent and nothing is lost; send a prompt to try again.`,
        { cause: error },
      );
    }
  }

  /** Whoever watches cannot hurt the build. */
  #report(p: Progress): void {
    for (const watcher of this.#watchers) {
      try {
        watcher(p);
      } catch (error) {
        this.tools.log.warn(`The progress of memory could not be shown: ${String(error)}`);
      }
    }
  }

  /** Evaluates the partition and stores it together with the receipt made from it: one decision, one commit. */
  async #freeze(turn: TurnId, branch: Branch, budget: number): Promise<void> {
    const { chain, records } = branch;
    const { base, partition } = this.#working.over(branch);
    try {
      const { merges } = partition.evaluate(budget, a => branch.line(a)?.bytes);
      const { text } = frozenText(await viewLines(branch, partition));
      const bytes = utf8Bytes(text);
      if (bytes > budget)
        throw new ArchiveError(
          'prepare',
          `The shortest view of this session takes ${bytes} bytes and this model has room for ${budget}. Choose a model with more room.`,
        );
      const ops: Op[] = [];
      if (records > 0)
        ops.push({
          op: 'partition',
          base,
          chain,
          merges: merges.map(({ start, count }) => [start, count] as const),
          target: partition.target,
          revision: partition.revision,
        });
      ops.push({
        op: 'receipt',
        turn,
        chain,
        records,
        parts: runsOf(partition),
        budget,
        bytes,
        sha256: sha256Hex(text),
      });
      await this.tools.write(() => ops);
      this.#working.committed(chain);
    } catch (error) {
      // It holds merges that no commit knows of.
      this.#working.forget();
      throw error;
    }
  }

  async #viewOf(turn: TurnId): Promise<FrozenView> {
    const receipt = this.tools.state.turn(turn)?.receipt;
    if (!receipt) throw new Error(`turn ${turn} has no receipt`);
    const { blocks, verified } = await rebuildView(this.tools.state, receipt);
    if (!verified)
      throw new ArchiveError(
        'archive',
        'The frozen view of this turn can no longer be rebuilt from the archive. Run "strata verify" on its folder.',
      );
    return { turn, records: receipt.records, blocks, bytes: receipt.bytes, sha256: receipt.sha256 };
  }
}

function historyChanged(): ArchiveError {
  return new ArchiveError(
    'prepare',
    'Earlier history changed while this turn was running. Nothing more is sent; submit the prompt again.',
  );
}

function limitsOf(model: ModelLimits, viewBytes: number): Limits {
  if (!(model.window > 0) || !(model.maxTokens > 0))
    throw new ArchiveError('invalid', `The limits of the model ${model.name} are no numbers of tokens.`);
  // Summaries are written by the session's own model, so both windows are this one.
  const budgets = archiveBudgets(model, model, BYTES_PER_TOKEN);
  if (!budgets.ok) throw new ArchiveError('prepare', budgets.reason);
  const budget = turnBudget(viewBytes, model.window, BYTES_PER_TOKEN);
  if (budget < MIN_VIEW_BYTES)
    throw new ArchiveError(
      'prepare',
      `A view of ${budget} bytes is too small for memory. Choose a model with more room.`,
    );
  const { maxInputBytes, maxOutputTokens } = budgets;
  return { budget, contextBytes: Math.min(viewBytes, budgets.viewBytes), maxInputBytes, maxOutputTokens };
}
