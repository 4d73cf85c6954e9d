import { ArchiveError } from './archiveError';
import { captureId, type Capture, type CaptureId } from './ids';
import type { Commit, MessageOp, Op } from './ops';
import { parseCommit } from './parseCommit';
import type { Clock, Journal, JournalLine } from './ports';
import type { ArchiveState } from './state';

/** What to write, seen from a state that all earlier commits have led to; nothing for no commit. */
export type Decide = () => readonly Op[] | Promise<readonly Op[]>;

export interface CommitTools {
  readonly state: ArchiveState;
  readonly journal: Journal;
  readonly clock: Clock;
  /** Throws while nothing may be written. */
  readonly check: () => void;
  /** A commit is stored and shows in the state. */
  readonly stored: (n: number, line: JournalLine) => void;
  /** A stored commit did not fit: nothing may be written any more. Gives what to tell whoever asked for it. */
  readonly misfit: (reason: string) => ArchiveError;
}

/** Far below what a journal takes for a line, so that a line is refused before anything counts on it. */
const MAX_OPS_BYTES = 128 * 1024 * 1024;

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  readonly work:
    | {
        readonly kind: 'message';
        readonly id: CaptureId;
        readonly capture: Capture;
        readonly checked: Checked;
        /** Commits there were when the capture was found to be unknown. */
        readonly seen: number;
      }
    | { readonly kind: 'decision'; readonly decide: Decide };
}
/** Ops as the JSON that is written, and as a reader will parse them. */
interface Checked {
  readonly json: string;
  readonly ops: readonly Op[];
}

/**
 * The one way into an archive's journal, in the order of asking. Messages decide nothing, so all that arrive while a
 * write is on its way go together in the next one; a decision waits until everything before it shows in the state.
 * A commit gets its number when its batch is formed, from a state that lacks nothing. When a batch fails, everything
 * that waits behind it fails with it: what was acknowledged is always a run without gaps.
 */
export class Commits {
  readonly #queue: Waiting[] = [];
  readonly #pending = new Map<CaptureId, Promise<void>>();
  #pumping: Promise<void> | undefined;

  constructor(private readonly tools: CommitTools) {}

  /**
   * Stores a captured message once. A capture that is known is acknowledged, one that is on its way is answered with
   * its own outcome. `prepare` makes the op to be stored; with images this takes the disk, so it is a promise then.
   */
  message(capture: Capture, op: MessageOp | (() => Promise<MessageOp>)): Promise<void> {
    const { state } = this.tools;
    if (state.captured(capture)) return Promise.resolve();
    const id = captureId(capture);
    const same = this.#pending.get(id);
    if (same) return same;
    const stored =
      typeof op === 'function'
        ? this.decide(async () => (state.captured(capture) ? [] : [await op()]))
        : this.#add(() => ({ kind: 'message', id, capture, checked: written([op]), seen: state.commits }));
    this.#pending.set(id, stored);
    const settle = (): boolean => this.#pending.delete(id);
    stored.then(settle, settle);
    return stored;
  }

  /** One decision, one commit. Rejects with what `decide` throws, and then others are not affected. */
  decide(decide: Decide): Promise<void> {
    return this.#add(() => ({ kind: 'decision', decide }));
  }

  /** Resolves when what was asked for so far has ended, whether well or not. */
  async idle(): Promise<void> {
    await this.#pumping;
  }

  #add(make: () => Waiting['work']): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ resolve, reject, work: make() });
      this.#pumping ??= this.#pump();
    });
  }

  async #pump(): Promise<void> {
    // All that is asked for at once goes together.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const failure = await this.#next();
      if (failure !== undefined) for (const { reject } of this.#queue.splice(0)) reject(failure);
    }
    this.#pumping = undefined;
  }

  /** Writes what stands first. Returns why nothing behind it can be written either. */
  async #next(): Promise<unknown> {
    const [first] = this.#queue;
    if (first?.work.kind === 'decision') {
      this.#queue.shift();
      let made: Checked | undefined;
      try {
        this.tools.check();
        const ops = await first.work.decide();
        if (ops.length > 0) made = checked(ops);
      } catch (error) {
        first.reject(error);
        return undefined;
      }
      if (made) return this.#write([{ asked: [first], ...made }]);
      first.resolve();
      return undefined;
    }
    return this.#write([...this.#messages().values()]);
  }

  /** The messages up to the next decision, each capture once. */
  #messages(): Map<CaptureId, Batched> {
    const { state } = this.tools;
    const batch = new Map<CaptureId, Batched>();
    for (let first = this.#queue[0]; first?.work.kind === 'message'; first = this.#queue[0]) {
      this.#queue.shift();
      const { id, capture, checked, seen } = first.work;
      const same = batch.get(id);
      // A decision before it may have brought the capture along.
      if (seen !== state.commits && state.captured(capture)) first.resolve();
      else if (same) same.asked.push(first);
      else batch.set(id, { asked: [first], ...checked });
    }
    return batch;
  }

  async #write(batch: readonly Batched[]): Promise<unknown> {
    const { state, journal, clock, check, stored, misfit } = this.tools;
    if (batch.length === 0) return undefined;
    let refs: readonly PromiseSettledResult<JournalLine>[] = [];
    let commits: readonly Commit[] = [];
    let failure: unknown;
    try {
      check();
      if (journal.unknown) await journal.reopen();
      commits = batch.map(({ ops }, i) => ({ n: state.commits + i, at: clock.now(), ops }));
      const lines = commits.map(({ n, at }, i) => `{"n":${n},"at":${at},"ops":${batch[i]?.json}}`);
      refs = await Promise.allSettled(lines.map(line => journal.append(line)));
    } catch (error) {
      failure = error instanceof ArchiveError ? error : unwritable(error);
    }
    for (const [i, { asked }] of batch.entries()) {
      const ref = refs[i];
      if (failure === undefined && ref?.status === 'rejected') failure = unwritable(ref.reason);
      if (failure === undefined && ref?.status === 'fulfilled') {
        const wrong = state.apply(commits[i] as Commit, ref.value);
        if (wrong !== undefined) failure = misfit(wrong);
      }
      for (const { resolve, reject } of asked)
        if (failure === undefined) resolve();
        else reject(failure);
      if (failure === undefined && ref?.status === 'fulfilled') stored((commits[i] as Commit).n, ref.value);
    }
    return failure;
  }
}

interface Batched extends Checked {
  readonly asked: Waiting[];
}

/** What a reader would refuse must never be written: it would end the journal for everybody. */
function checked(ops: readonly Op[]): Checked {
  const { json } = written(ops);
  const commit = parseCommit(`{"n":0,"at":0,"ops":${json}}`);
  if (!commit)
    throw new ArchiveError('invalid', 'That cannot be stored: it is no valid change of an archive.');
  return { json, ops: commit.ops };
}

/** The same for ops that a parser made, which a reader's parser leaves as they are. */
function written(ops: readonly Op[]): Checked {
  const json = jsonOf(ops);
  if (json === undefined || (json.length * 3 > MAX_OPS_BYTES && Buffer.byteLength(json) > MAX_OPS_BYTES))
    throw new ArchiveError(
      'invalid',
      `This message is larger than the ${MAX_OPS_BYTES / 1024 / 1024} MiB that an archive takes at once. Nothing of it was stored, everything before it is safe. Shorten it, or switch memory off with /strata off.`,
    );
  return { json, ops };
}

/** Undefined for what is longer than a text can be. */
function jsonOf(ops: readonly Op[]): string | undefined {
  try {
    return JSON.stringify(ops);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function unwritable(error: unknown): ArchiveError {
  const reason = error instanceof Error ? error.message : String(error);
  return new ArchiveError('archive', `The archive could not be written: ${reason}`, { cause: error });
}
