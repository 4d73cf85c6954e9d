import { isAddress } from './address';
import { Branch, type Originals } from './branch';
import { nextChain, sourceKey } from './canonical';
import { captureId, ROOT_CHAIN, type Capture, type CaptureId, type Chain, type SourceKey } from './ids';
import type { ModelLine } from './line';
import type { StoredMessage } from './message';
import { leafMethod } from './node';
import { recordsOf } from './normalise';
import type {
  BindOp,
  Commit,
  MessageOp,
  NodeEnd,
  NodeOp,
  Op,
  PartitionOp,
  PartitionRuns,
  ReceiptOp,
  SentOp,
  TokenUsage,
} from './ops';
import { parseCommit } from './parseCommit';
import { partsOfRuns } from './partition';
import { continueMark, EMPTY_MARK, recordsOfRuns, type PartitionMark } from './partitionMark';
import type { FrameRef } from './ports';
import { rawText } from './record';
import { recordsThrough, type MessagePlace, type RecordMeta, type Source } from './source';
import { ModelLines } from './spine';
import { Spines } from './spines';
import { utf8Bytes } from './text';
import { addUsage, NO_USAGE } from './tokenUsage';
import type { Turn } from './turn';

/** A captured message, with or without a place in a chain. */
export interface Captured {
  readonly key: SourceKey;
  readonly records: readonly RecordMeta[];
  readonly place: MessagePlace;
  readonly bound: boolean;
}

/**
 * Everything an archive's journal says, as a read model: the owner's own commits and a reader's go through the same
 * `apply`, so both see the same memory. Holds short texts and sizes; long originals stay in the journal.
 */
export class ArchiveState implements Originals {
  readonly #sources = new Map<Chain, Source>();
  readonly #children = new Map<Chain, number>();
  readonly #captures = new Map<CaptureId, Captured>();
  readonly #modelLines = new ModelLines();
  readonly #marks = new Map<Chain, PartitionMark>();
  readonly #turns: Turn[] = [];
  readonly #turnNumbers = new Map<string, number>();
  readonly #spines = new Spines(this.#modelLines);
  #newest: Chain = ROOT_CHAIN;
  #mode: boolean | undefined;
  #commits = 0;
  #orphans = 0;
  #usage = NO_USAGE;
  #lastRead: { readonly offset: number; readonly commit: Commit } | undefined;

  /** `read` gives the JSON of a journal line. */
  constructor(private readonly read: (ref: FrameRef) => Promise<string>) {}

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
    return this.#turns;
  }
  get sources(): number {
    return this.#sources.size;
  }
  /** How many lines models wrote. */
  get modelLines(): number {
    return this.#modelLines.size;
  }
  /** What those lines took, in sum. */
  get summaryUsage(): TokenUsage {
    return this.#usage;
  }
  modelLine(end: NodeEnd, count: number): ModelLine | undefined {
    return this.#modelLines.get(end, count);
  }
  /** Captured messages that no branch holds. */
  get orphans(): number {
    return this.#orphans;
  }

  /** A turn by its number from 1, or by its run marker's id. */
  turn(which: number | string): Turn | undefined {
    const number = typeof which === 'number' ? which : this.#turnNumbers.get(which);
    return number === undefined ? undefined : this.#turns[number - 1];
  }
  captured(capture: Capture): Captured | undefined {
    return this.#captures.get(captureId(capture));
  }
  source(chain: Chain): Source | undefined {
    return this.#sources.get(chain);
  }
  /** The last sources of all branches, in the order they were bound. */
  tips(): Source[] {
    return [...this.#sources.values()].filter(source => !this.#children.has(source.chain));
  }
  /** The newest partition of an ancestry, and the chain it was left at; the empty one where there is none. */
  mark(chain: Chain): { readonly chain: Chain; readonly mark: PartitionMark } {
    for (let at = this.#sources.get(chain); at; at = at.parent) {
      const mark = this.#marks.get(at.chain);
      if (mark) return { chain: at.chain, mark };
    }
    return { chain: ROOT_CHAIN, mark: EMPTY_MARK };
  }

  /** The branch of that name; undefined when no such source is known. */
  branch(chain: Chain): Branch | undefined {
    const tip = this.#sources.get(chain);
    return tip || chain === ROOT_CHAIN ? new Branch(this.#spines.through(tip), tip, this) : undefined;
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

  async message(source: Source): Promise<StoredMessage> {
    const { ref, op } = source.place;
    if (this.#lastRead?.offset !== ref.offset) {
      const commit = parseCommit(await this.read(ref));
      if (!commit) throw new Error(`the journal line at byte ${ref.offset} is not what it was`);
      this.#lastRead = { offset: ref.offset, commit };
    }
    const stored = this.#lastRead.commit.ops[op];
    const message = stored?.op === 'message' || stored?.op === 'bind' ? stored.message : undefined;
    // The bytes were right when the journal was opened; they are what the key says, or they are damage.
    if (!message || sourceKey(message) !== source.key)
      throw new Error(`the journal line at byte ${ref.offset} does not hold the message it held`);
    return message;
  }

  async raw(source: Source, ordinal: number): Promise<string> {
    const record = recordsOf(await this.message(source))[ordinal];
    if (!record) throw new RangeError(`source ${source.chain} has no record ${ordinal}`);
    return rawText(record);
  }

  #applyOp(op: Op, place: MessagePlace, commit: Commit): string | undefined {
    switch (op.op) {
      case 'message':
        return this.#applyMessage(op, place);
      case 'bind':
        return this.#applyBind(op, place);
      case 'node':
        return this.#applyNode(op);
      case 'partition':
        return this.#applyPartition(op);
      case 'receipt':
        return this.#applyReceipt(op, commit);
      case 'sent':
        return this.#applySent(op);
      case 'mode':
        this.#mode = op.on;
        return undefined;
    }
  }

  #applyMessage(op: MessageOp, place: MessagePlace): undefined {
    const id = captureId(op.capture);
    if (this.#captures.has(id)) return;
    this.#captures.set(id, {
      key: sourceKey(op.message),
      records: metaOf(op.message),
      place,
      bound: false,
    });
    this.#orphans++;
  }

  #applyBind(op: BindOp, place: MessagePlace): string | undefined {
    const parent = this.#sources.get(op.after);
    if (!parent && op.after !== ROOT_CHAIN) return `no source has the chain ${op.after}`;
    const captured = op.capture && this.captured(op.capture);
    if (op.capture && !captured && !op.message) return 'the captured message is not in this journal';
    const found = op.message
      ? { key: sourceKey(op.message), records: metaOf(op.message), place }
      : (captured as Captured);
    if (nextChain(op.after, found.key) !== op.chain) return `the message does not lead to ${op.chain}`;
    if (found.records.length === 0) return 'a message without visible content';
    if (op.capture) {
      // A capture that comes with its binding is known from now on, so that re-sending it writes nothing.
      if (captured && !captured.bound) this.#orphans--;
      this.#captures.set(captureId(op.capture), { ...(captured ?? found), bound: true });
    }
    this.#newest = op.chain;
    if (this.#sources.has(op.chain)) return undefined;
    this.#sources.set(op.chain, {
      chain: op.chain,
      parent,
      key: found.key,
      entry: op.entry,
      first: recordsThrough(parent),
      records: found.records,
      place: found.place,
    });
    this.#children.set(op.after, (this.#children.get(op.after) ?? 0) + 1);
    return undefined;
  }

  #applyNode(op: NodeOp): string | undefined {
    const source = this.#sources.get(op.end.chain);
    if (!source) return `no source has the chain ${op.end.chain}`;
    if (op.end.ordinal >= source.records.length) return `that source has no record ${op.end.ordinal}`;
    const start = source.first + op.end.ordinal + 1 - op.count;
    if (!isAddress(start, op.count)) return `${start}+${op.count} is no address`;
    const { text, oversized, clipped, by } = op;
    // The first publication wins.
    if (!this.#modelLines.add(op.end, op.count, { text, oversized, clipped, by })) return undefined;
    this.#usage = addUsage(this.#usage, by.usage);
    this.#spines.published(source, { start, count: op.count });
    return undefined;
  }

  #applyPartition(op: PartitionOp): string | undefined {
    const base = op.base === ROOT_CHAIN ? EMPTY_MARK : this.#marks.get(op.base);
    const source = this.#sources.get(op.chain);
    if (!base || !source) return 'it continues a partition that is not here';
    const mark = continueMark(base, recordsThrough(source), op);
    if (!mark) return `its merges do not fit the partition at ${op.base}`;
    this.#marks.set(op.chain, mark);
    return undefined;
  }

  #applyReceipt(op: ReceiptOp, commit: Commit): string | undefined {
    const source = this.#sources.get(op.chain);
    if (!source && op.chain !== ROOT_CHAIN) return `no source has the chain ${op.chain}`;
    // In this order: parts are spelt out only when they cannot be more than the records.
    if (op.records !== recordsThrough(source) || op.records !== recordsOfRuns(op.parts) || !isTiled(op.parts))
      return `its parts do not cover ${op.records} records`;
    const decided = commit.ops.some(other => other.op === 'partition' && other.chain === op.chain);
    if (decided && !sameRuns(op.parts, this.#marks.get(op.chain)?.runs ?? []))
      return 'its parts are not the partition it was made from';
    // The first receipt of a turn is the one its requests carry.
    if (this.#turnNumbers.has(op.turn)) return undefined;
    const number = this.#turns.length + 1;
    this.#turnNumbers.set(op.turn, number);
    this.#turns.push({ number, id: op.turn, at: commit.at, receipt: op });
    this.#newest = op.chain;
    return undefined;
  }

  #applySent(op: SentOp): string | undefined {
    const turn = this.turn(op.turn);
    if (!turn) return `no receipt of turn ${op.turn}`;
    const { requests, status } = op;
    this.#turns[turn.number - 1] = { ...turn, sent: { requests, status } };
    return undefined;
  }
}

function isTiled(parts: PartitionRuns): boolean {
  try {
    partsOfRuns(parts);
    return true;
  } catch {
    return false;
  }
}

function sameRuns(a: PartitionRuns, b: PartitionRuns): boolean {
  return a.length === b.length && a.every(([level, times], i) => level === b[i]?.[0] && times === b[i]?.[1]);
}

function metaOf(message: StoredMessage): RecordMeta[] {
  return recordsOf(message).map(record => {
    const raw = rawText(record);
    const { kind, timestamp } = record;
    const short = leafMethod(raw) === 'verbatim';
    return { kind, timestamp, bytes: utf8Bytes(raw), ...(short && { raw }) };
  });
}
