import type { Capture, Chain, EntryId, SessionId, TurnId } from './ids';
import type { StoredMessage } from './message';

/** Who asks: one Pi session in one folder. */
export interface SessionIdentity {
  readonly sessionId: SessionId;
  /** Real path. */
  readonly cwd: string;
  /** Pi's file for this session; absent with `--no-session`. */
  readonly sessionFile?: string;
  readonly parentSession?: string;
}
export interface OpenReply {
  readonly archive: string;
  readonly memory: boolean;
  /** Chains the owner knows are found by offering them in `bind`; this is the newest one, to start from. */
  readonly chain: Chain;
  readonly records: number;
}
export interface AppendRequest {
  readonly capture: Capture;
  readonly message: StoredMessage;
}
/** One source of the selected branch, root first. */
export interface BindSource {
  readonly entry: EntryId;
  /** The message as captured; the owner takes its text from there when the keys agree. */
  readonly capture?: Capture;
  /** Always present on the wire unless the capture was acknowledged with the same key. */
  readonly message?: StoredMessage;
  /**
   * Where the message may have been captured by a Pi that ended before it could say so; its ordinal is about right.
   * Counts only for a capture that no branch holds and that is this very message.
   */
  readonly guess?: Capture;
}
export interface BindRequest {
  readonly after: Chain;
  readonly sources: readonly BindSource[];
}
export type BindReply =
  /** The chain after the last source, and how many records the branch has up to there. */
  | { readonly ok: true; readonly chain: Chain; readonly records: number }
  /** The owner has no such `after`: send again from ROOT_CHAIN. */
  | { readonly ok: false; readonly reason: 'unknown-chain' }
  /** A capture without a message that the owner does not hold: send that source with its message. */
  | { readonly ok: false; readonly reason: 'unknown-capture'; readonly entry: EntryId };

export interface ModelLimits {
  /** `provider/id` */
  readonly name: string;
  /** Context window in tokens. */
  readonly window: number;
  /** Longest reply in tokens. */
  readonly maxTokens: number;
}
export interface PrepareRequest {
  readonly turn: TurnId;
  /** The ancestry before the run marker. */
  readonly chain: Chain;
  readonly model: ModelLimits;
}
export interface Progress {
  readonly done: number;
  readonly total: number;
}
/** What a turn sends in place of its past. `blocks` joined give `text`; none when nothing is remembered. */
export interface FrozenView {
  readonly turn: TurnId;
  readonly records: number;
  readonly blocks: readonly string[];
  readonly bytes: number;
  readonly sha256: string;
}
export interface SettledRequest {
  readonly turn: TurnId;
  readonly requests: number;
  readonly status: number | null;
}
export interface ZoomRequest {
  readonly start: number;
  readonly count: number;
  /** Bytes into the raw text of one record; 0 otherwise. */
  readonly offset: number;
  /** Names a branch by the chain of its newest source; absent: the newest one. */
  readonly chain?: Chain;
}
