import type { Capture, Chain, EntryId, TurnId } from './ids';
import type { StoredMessage } from './message';

/** How a line's text came to be (spec/archive.md 2.2). Verbatim and concat lines are a function of the records. */
export type Method = 'verbatim' | 'concat' | 'model';

/**
 * Where a node ends: the source that holds its last record, and that record's place in it. Together with the count
 * this is a node's identity, so branches and sessions that share a prefix share nodes (design.md section 4).
 */
export interface NodeEnd {
  readonly chain: Chain;
  /** 0 for the first record of the source. */
  readonly ordinal: number;
}

/** Provenance of a model line; never identity. */
export interface NodeOrigin {
  readonly model: string;
  readonly promptVersion: number;
  /** Completed replies it took, 1 to 5. */
  readonly attempts: number;
  readonly usage: TokenUsage;
  /** Milliseconds since 1970. */
  readonly at: number;
}
export interface TokenUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** In the model's own currency unit, 0 where the model has no price. */
  readonly cost: number;
}

/** Run lengths `[level, times]` of a partition that tiles from record 0: counts are 2^level, starts are implied. */
export type PartitionRuns = readonly (readonly [level: number, times: number])[];

/** A finished message, stored once, before Pi goes on. */
export interface MessageOp {
  readonly op: 'message';
  readonly capture: Capture;
  readonly message: StoredMessage;
}
/** Puts a source at its place in a chain. Its message is a captured one, or comes with the op. */
export interface BindOp {
  readonly op: 'bind';
  readonly after: Chain;
  /** H(after, key of the message): redundant, so a reader can tell a foreign or damaged journal. */
  readonly chain: Chain;
  readonly entry: EntryId;
  readonly capture?: Capture;
  /** Present when nothing was captured, or when Pi's entry differs from the captured text (the entry wins). */
  readonly message?: StoredMessage;
}
/** A line that a model wrote. Immutable: a second op for the same identity is ignored. */
export interface NodeOp {
  readonly op: 'node';
  readonly end: NodeEnd;
  readonly count: number;
  readonly text: string;
  /** Longer than nodeBytes after the last size attempt. */
  readonly oversized: boolean;
  /** The compactor saw only head and tail of the record (spec/archive.md 3.6). */
  readonly clipped: boolean;
  readonly by: NodeOrigin;
}
/**
 * A change of the partition of one branch: leaves up to `chain` appended to that of `base`, then merges in order. A
 * new branch continues the newest partition of its own ancestry, so what it shares with others stays as it was.
 */
export interface PartitionOp {
  readonly op: 'partition';
  /** The chain whose partition this one continues; ROOT_CHAIN for an empty one. */
  readonly base: Chain;
  readonly chain: Chain;
  /** Parents that replaced their two children, oldest first: `[start, count]`. */
  readonly merges: readonly (readonly [start: number, count: number])[];
  /** Bytes that an unfinished batch still wants to reach; null between batches (spec/archive.md 4.3). */
  readonly target: number | null;
  /** Grows by one with each evaluation that merged something. */
  readonly revision: number;
}
/** The frozen view of a turn: everything needed to rebuild its text, and the hash to check it. */
export interface ReceiptOp {
  readonly op: 'receipt';
  readonly turn: TurnId;
  readonly chain: Chain;
  readonly records: number;
  readonly parts: PartitionRuns;
  readonly budget: number;
  readonly bytes: number;
  readonly sha256: string;
}
/** Requests of a turn that left for the provider, and the HTTP status of the last one. */
export interface SentOp {
  readonly op: 'sent';
  readonly turn: TurnId;
  readonly requests: number;
  readonly status: number | null;
}
/** Memory switched on or off for this archive. */
export interface ModeOp {
  readonly op: 'mode';
  readonly on: boolean;
}
export type Op = MessageOp | BindOp | NodeOp | PartitionOp | ReceiptOp | SentOp | ModeOp;

/** One decision, on one line of the journal. */
export interface Commit {
  /** Counts the commits of a journal from 0: a missing, doubled or swapped line breaks the sequence. */
  readonly n: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly ops: readonly Op[];
}
