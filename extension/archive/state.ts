import { isAddress, levelOf } from './address';
import { Branch } from './branch';
import { nextChain, sourceKey } from './canonical';
import { CaptureTable } from './captureTable';
import { ROOT_CHAIN, type Capture, type Chain, type SourceKey } from './ids';
import { LineTable } from './lineTable';
import type { StoredMessage } from './message';
import { MessageTable } from './messageTable';
import { NODE_BYTES } from './node';
import { joinedText } from './normalise';
import type {
  BindOp,
  Commit,
  MessageOp,
  NodeEnd,
  NodeOp,
  Op,
  PartitionOp,
  ReceiptOp,
  TokenUsage,
} from './ops';
import { Originals } from './originals';
import {
  areTiled,
  continueMark,
  EMPTY_MARK,
  recordsOfRuns,
  sameRuns,
  type PartitionMark,
} from './partitionMark';
import type { FrameRef } from './ports';
import type { MessagePlace, Source } from './source';
import { NO_SOURCE, SourceTable } from './sourceTable';
import type { Tables } from './spine';
import { Spines } from './spines';
import type { Restored } from './restored';
import type { SavedState } from './savedState';
import { codePointCut } from './text';
import { addUsage, NO_USAGE } from './tokenUsage';
import { Turns, type Turn } from './turn';

/** A captured message, with or without a place in a chain. */
export interface Captured {
  readonly key: SourceKey;
  readonly bound: boolean;
}

/**
 * Everything an archive's journal says, as a read model: the owner's own commits and a reader's go through the same
 * `apply`, so both see the same memory. Holds places, hashes and sizes in flat arrays; every text stays in the journal.
 */
export class ArchiveState {
  readonly #tables: Tables;
  readonly #captures: CaptureTable;
  readonly #originals: Originals;
  readonly #spines: Spines;
  /** By the row of the source they end with. */
  readonly #marks = new Map<number, PartitionMark>();
  readonly #turns = new Turns();
  #newest: Chain = ROOT_CHAIN;
  #mode: boolean | undefined;
  #commits = 0;
  #usage = NO_USAGE;
  #firstPrompt: string | undefined;

  /** `read` gives the JSON of a journal line. */
  constructor(read: (ref: FrameRef) => Promise<string>, restored?: Restored) {
    const messages = restored?.messages ?? new MessageTable();
    const sources = restored?.sources ?? new SourceTable(messages);
    const lines = restored?.lines ?? new LineTable();
    this.#tables = { messages, sources, lines };
    this.#captures = restored?.captures ?? new CaptureTable();
    this.#originals = new Originals(read, messages, lines);
    this.#spines = new Spines(this.#tables);
    if (!restored) return;
    const { saved } = restored;
    for (const [row, mark] of saved.marks) this.#marks.set(row, mark);
    for (const turn of saved.turns) this.#turns.add(turn);
    this.#newest = saved.newest;
    this.#mode = saved.mode;
    this.#commits = saved.commits;
    this.#usage = saved.usage;
    this.#firstPrompt = saved.firstPrompt;
  }

  /** Commits applied; also the number of the next one. */
  get commits(): number {
    return this.#commits;
  }
  /** The branch that was bound or frozen last: what an answer means when nobody names a branch. */
  get newest(): Chain {
    return this.#newest;
  }
  /** Memory switched on or off; undefined until somebody did. */
  get mode(): boolean | undefined {
    return this.#mode;
  }
  /** Turns in the order their views were frozen. */
  get turns(): readonly Turn[] {
    return this.#turns.all;
  }
  get sources(): number {
    return this.#tables.sources.length;
  }
  /** How many lines models wrote. */
  get modelLines(): number {
    return this.#tables.lines.length;
  }
  /** What those lines took, in sum. */
  get summaryUsage(): TokenUsage {
    return this.#usage;
  }
  /** The beginning of the first thing a user said here, for whoever has no other name for the session. */
  get firstPrompt(): string | undefined {
    return this.#firstPrompt;
  }
  /** Whether a model wrote that node's line. */
  hasLine(end: NodeEnd, count: number): boolean {
    const row = this.#tables.sources.find(end.chain);
    return row !== NO_SOURCE && this.#tables.lines.find(row, end.ordinal, levelOf(count)) >= 0;
  }
  /** Captured messages that no branch holds. */
  get orphans(): number {
    return this.#captures.orphans;
  }
  /** How many branches there are: sources that none follows. */
  get tipCount(): number {
    return this.#tables.sources.tips;
  }

  /** A turn by its number from 1, or by its run marker's id. */
  turn(which: number | string): Turn | undefined {
    return this.#turns.get(which);
  }
  captured(capture: Capture): Captured | undefined {
    const row = this.#captures.find(capture);
    if (row < 0) return undefined;
    return {
      key: this.#tables.messages.key(this.#captures.message(row)),
      bound: this.#captures.isBound(row),
    };
  }
  source(chain: Chain): Source | undefined {
    const row = this.#tables.sources.find(chain);
    return row === NO_SOURCE ? undefined : this.#tables.sources.at(row);
  }
  /** The last sources of all branches, in the order they were bound. */
  tips(): Source[] {
    return Array.from(this.#tables.sources.tipRows(), row => this.#tables.sources.at(row));
  }
  /** The newest partition of an ancestry, and the chain it was left at; the empty one where there is none. */
  mark(chain: Chain): { readonly chain: Chain; readonly mark: PartitionMark } {
    const { sources } = this.#tables;
    for (let row = sources.find(chain); row !== NO_SOURCE; row = sources.parent(row)) {
      const mark = this.#marks.get(row);
      if (mark) return { chain: sources.chain(row), mark };
    }
    return { chain: ROOT_CHAIN, mark: EMPTY_MARK };
  }

  /** The branch of that name; undefined when no such source is known. */
  branch(chain: Chain): Branch | undefined {
    const row = this.#tables.sources.find(chain);
    if (row === NO_SOURCE && chain !== ROOT_CHAIN) return undefined;
    return new Branch(this.#spines, row, this.#tables, this.#originals);
  }
  /** Gets a branch ready to be looked at, and lets others run meanwhile. Nothing needs it; a long one is slow to start without. */
  async ready(chain: Chain): Promise<void> {
    await this.#spines.grow(this.#tables.sources.find(chain));
  }
  /** The message of a source as it was stored. Rejects when the journal no longer holds what its key says. */
  message(source: Source): Promise<StoredMessage> {
    return this.#originals.message(this.#tables.sources.message(source.row));
  }

  /** All of it, to be kept. Its columns never change, however many commits follow. */
  save(): SavedState {
    return {
      messages: this.#tables.messages.columns(),
      sources: this.#tables.sources.columns(),
      lines: this.#tables.lines.columns(),
      captures: this.#captures.columns(),
      marks: [...this.#marks],
      turns: [...this.#turns.all],
      newest: this.#newest,
      mode: this.#mode,
      commits: this.#commits,
      usage: this.#usage,
      firstPrompt: this.#firstPrompt,
    };
  }

  /**
   * Applies one commit, the line at `ref`. Returns why it cannot belong to this journal, else undefined: a wrong
   * number, an unknown chain, a key that is not its message's. What came before stays usable.
   */
  apply(commit: Commit, ref: FrameRef): string | undefined {
    if (commit.n !== this.#commits) return `commit ${this.#commits} expected, commit ${commit.n} found`;
    for (let i = 0; i < commit.ops.length; i++) {
      const op = commit.ops[i] as Op;
      const wrong = this.#applyOp(op, { ref, op: i }, commit);
      if (wrong !== undefined) return `commit ${commit.n}, ${op.op}: ${wrong}`;
    }
    this.#commits++;
    return undefined;
  }

  #applyOp(op: Op, place: MessagePlace, commit: Commit): string | undefined {
    switch (op.op) {
      case 'message':
        return this.#applyMessage(op, place);
      case 'bind':
        return this.#applyBind(op, place);
      case 'node':
        return this.#applyNode(op, place);
      case 'partition':
        return this.#applyPartition(op);
      case 'receipt':
        return this.#applyReceipt(op, commit);
      case 'sent':
        return this.#turns.sent(op) ? undefined : `no receipt of turn ${op.turn}`;
      case 'mode':
        this.#mode = op.on;
        return undefined;
    }
  }

  #applyMessage({ capture, message }: MessageOp, place: MessagePlace): undefined {
    this.#captures.add(capture, () => this.#addMessage(message, sourceKey(message), place), false);
  }

  #applyBind(op: BindOp, place: MessagePlace): string | undefined {
    const { sources, messages } = this.#tables;
    const parent = sources.find(op.after);
    if (parent === NO_SOURCE && op.after !== ROOT_CHAIN) return `no source has the chain ${op.after}`;
    const captured = op.capture ? this.#captures.find(op.capture) : -1;
    if (op.capture && captured < 0 && !op.message) return 'the captured message is not in this journal';
    const key = op.message ? sourceKey(op.message) : messages.key(this.#captures.message(captured));
    if (nextChain(op.after, key) !== op.chain) return `the message does not lead to ${op.chain}`;
    const known = sources.find(op.chain);
    const message = op.message ? this.#addMessage(op.message, key, place) : this.#captures.message(captured);
    if (messages.records(message) === 0) return 'a message without visible content';
    if (op.capture) {
      // A capture that comes with its binding is known from now on, so that re-sending it writes nothing.
      if (captured >= 0) this.#captures.bind(captured);
      else this.#captures.add(op.capture, () => message, true);
    }
    this.#newest = op.chain;
    if (known === NO_SOURCE) sources.add(op.chain, parent, message, op.entry);
    return undefined;
  }

  #applyNode(op: NodeOp, place: MessagePlace): string | undefined {
    const { sources, lines } = this.#tables;
    const row = sources.find(op.end.chain);
    if (row === NO_SOURCE) return `no source has the chain ${op.end.chain}`;
    if (op.end.ordinal >= sources.records(row)) return `that source has no record ${op.end.ordinal}`;
    const start = sources.first(row) + op.end.ordinal + 1 - op.count;
    if (!isAddress(start, op.count)) return `${start}+${op.count} is no address`;
    if (!lines.add(row, op, place)) return undefined;
    this.#usage = addUsage(this.#usage, op.by.usage);
    this.#spines.published(row, { start, count: op.count });
    return undefined;
  }

  #applyPartition(op: PartitionOp): string | undefined {
    const { sources } = this.#tables;
    const base = op.base === ROOT_CHAIN ? EMPTY_MARK : this.#marks.get(sources.find(op.base));
    const row = sources.find(op.chain);
    if (!base || row === NO_SOURCE) return 'it continues a partition that is not here';
    const mark = continueMark(base, sources.through(row), op);
    if (!mark) return `its merges do not fit the partition at ${op.base}`;
    this.#marks.set(row, mark);
    return undefined;
  }

  #applyReceipt(op: ReceiptOp, commit: Commit): string | undefined {
    const { sources } = this.#tables;
    const row = sources.find(op.chain);
    if (row === NO_SOURCE && op.chain !== ROOT_CHAIN) return `no source has the chain ${op.chain}`;
    if (op.records !== sources.through(row) || op.records !== recordsOfRuns(op.parts) || !areTiled(op.parts))
      return `its parts do not cover ${op.records} records`;
    const runs = this.#marks.get(row)?.runs ?? [];
    const same = sameRuns(op.parts, runs);
    if (!same && commit.ops.some(other => other.op === 'partition' && other.chain === op.chain))
      return 'its parts are not the partition it was made from';
    // The first receipt of a turn is the one its requests carry.
    if (this.#turns.get(op.turn)) return undefined;
    // What is said twice is kept once.
    const receipt = same ? { ...op, parts: runs } : op;
    this.#turns.add({ id: op.turn, at: commit.at, receipt });
    this.#newest = op.chain;
    return undefined;
  }

  #addMessage(message: StoredMessage, key: SourceKey, place: MessagePlace): number {
    if (message.role === 'user') this.#firstPrompt ??= codePointCut(joinedText(message.content), NODE_BYTES);
    return this.#tables.messages.add(message, key, place);
  }
}
