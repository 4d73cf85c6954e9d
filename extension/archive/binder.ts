import { ArchiveError } from './archiveError';
import type { Decide } from './commits';
import { nextChain, sourceKey } from './canonical';
import { ROOT_CHAIN, type Capture, type Chain, type SourceKey } from './ids';
import { storeImages } from './images';
import { recordsOf } from './normalise';
import type { BindOp } from './ops';
import { parseCapture } from './parseCommit';
import { parseMessage } from './parseMessage';
import type { Blobs } from './ports';
import type { BindReply, BindRequest, BindSource } from './requests';
import { recordsThrough } from './source';
import type { ArchiveState } from './state';

/** A commit of bindings is closed at this many characters of messages: reading one original parses one commit. */
const COMMIT_SIZE = 256 * 1024;
const COMMIT_OPS = 256;
/** How far the ordinal of a guessed capture may be off: messages that were announced and never kept, and the reverse. */
const NEAR = 4;

/** One commit: what `decide` returns is written and applied; see `Commits`. */
export type Write = (decide: Decide) => Promise<void>;

/** Puts the sources of a session's branch at their place in the trie. */
export class Binder {
  #current: Chain | undefined;

  constructor(
    private readonly state: ArchiveState,
    private readonly blobs: Blobs,
    private readonly write: Write,
  ) {}

  /** The chain that was bound or selected last, here or before the archive was opened. */
  get current(): Chain {
    return this.#current ?? this.state.newest;
  }

  /** A session went back to an earlier point: nothing is bound then, and yet that is its branch from here on. */
  select(chain: Chain): void {
    this.#current = chain;
  }

  /**
   * Walks on from `after`, source by source. Keys and chains are computed here. A captured message with the entry's
   * key is bound by reference; otherwise the entry's own message is stored with the binding and wins. What is known
   * already, and messages without visible content, write nothing. A failure half-way leaves a shorter branch, which
   * the same request completes.
   */
  async bind(request: BindRequest): Promise<BindReply> {
    const { after } = request;
    // What was asked for before is in the state from here on.
    await this.write(() => []);
    if (after !== ROOT_CHAIN && !this.state.source(after)) return { ok: false, reason: 'unknown-chain' };
    const steps: BindOp[] = [];
    let chain = after;
    for (const source of request.sources) {
      const step = this.#step(chain, source);
      if (step === 'unknown-capture') return { ok: false, reason: step, entry: source.entry };
      if (step === 'nothing') continue;
      chain = step.chain;
      steps.push(step);
    }
    for (const ops of inCommits(steps)) await this.write(() => this.#news(ops));
    this.#current = chain;
    return { ok: true, chain, records: recordsThrough(this.state.source(chain)) };
  }

  #step(after: Chain, source: BindSource): BindOp | 'nothing' | 'unknown-capture' {
    const { entry } = source;
    const capture = source.capture && parseCapture(source.capture);
    const message = source.message && parseMessage(source.message);
    if (typeof entry !== 'string' || !entry || (source.capture && !capture) || (source.message && !message))
      throw new ArchiveError('invalid', 'That is no message of a session.');
    const guess = source.guess && parseCapture(source.guess);
    const captured = capture && this.state.captured(capture);
    if (!message) {
      if (!capture || !captured) return 'unknown-capture';
      return { op: 'bind', after, chain: nextChain(after, captured.key), entry, capture };
    }
    if (recordsOf(message).length === 0) return 'nothing';
    const key = sourceKey(message);
    const place = { op: 'bind', after, chain: nextChain(after, key), entry } as const;
    if (captured?.key === key) return { ...place, ...(capture && { capture }) };
    const found = guess && !capture && this.#lostCapture(guess, key);
    if (found) return { ...place, capture: found };
    return { ...place, ...(capture && { capture }), message };
  }

  /** The capture near this one that is this very message and on no branch. */
  #lostCapture(guess: Capture, key: SourceKey): Capture | undefined {
    const first = Math.max(0, guess.ordinal - NEAR);
    for (let ordinal = first; ordinal <= guess.ordinal + NEAR; ordinal++) {
      const capture = { ...guess, ordinal };
      const captured = this.state.captured(capture);
      if (captured?.key === key && !captured.bound) return capture;
    }
    return undefined;
  }

  /** What is not known yet, its images stored. */
  async #news(ops: readonly BindOp[]): Promise<BindOp[]> {
    const news: BindOp[] = [];
    for (const op of ops)
      if (this.#isNews(op))
        news.push(op.message ? { ...op, message: await storeImages(op.message, this.blobs) } : op);
    return news;
  }

  #isNews({ chain, capture }: BindOp): boolean {
    const captured = capture && this.state.captured(capture);
    return !this.state.source(chain) || (captured !== undefined && !captured.bound);
  }
}

function* inCommits(steps: readonly BindOp[]): Iterable<readonly BindOp[]> {
  let ops: BindOp[] = [];
  let size = 0;
  for (const step of steps) {
    ops.push(step);
    size += step.message ? JSON.stringify(step.message).length : 0;
    if (size < COMMIT_SIZE && ops.length < COMMIT_OPS) continue;
    yield ops;
    ops = [];
    size = 0;
  }
  if (ops.length > 0) yield ops;
}
