import { ArchiveError } from './archiveError';
import { Binder } from './binder';
import type { Branch } from './branch';
import { Checkpointer } from './checkpointer';
import { Commits } from './commits';
import type { Chain, TurnId } from './ids';
import { hasInlineImage, storeImages } from './images';
import { parseCapture } from './parseCommit';
import { parseMessage } from './parseMessage';
import type { Blobs, Clock, Compactor, Journal, JournalSource, Log } from './ports';
import { Preparer } from './preparer';
import { recordsOf } from './normalise';
import { replayJournal, type Replay } from './replay';
import type {
  AppendRequest,
  BindReply,
  BindRequest,
  FrozenView,
  PrepareRequest,
  Progress,
  SettledRequest,
  ZoomRequest,
} from './requests';
import {
  date,
  search,
  zoom,
  type DateAnswer,
  type SearchAnswer,
  type SearchRequest,
  type ZoomAnswer,
} from './retrieval';
import type { ArchiveState } from './state';
import { statusOf, type ArchiveStatus } from './status';
import type { Sleep } from './summaryJob';

/** High water of a view where nobody chose another (spec/archive.md 4.4). */
const VIEW_BYTES = 128_000;

export interface ArchiveOptions {
  readonly journal: Journal;
  readonly blobs: Blobs;
  readonly clock: Clock;
  readonly log: Log;
  /** High water of the view in bytes (default 128,000). */
  readonly viewBytes?: number;
  /** Whether memory is on until `setMode` says otherwise (default true). */
  readonly memoryDefault?: boolean;
  /** Archives, for reading only, of sessions that this one began as: what is summarised there is not paid for again. */
  readonly related?: () => Promise<readonly JournalSource[]>;
  /** Waits between failed model calls; tests bring their own. */
  readonly sleep?: Sleep;
}
export type ArchiveEvent =
  | { readonly type: 'commit'; readonly n: number }
  | { readonly type: 'preparing'; readonly turn: TurnId; readonly progress: Progress }
  | { readonly type: 'prepared'; readonly turn: TurnId }
  /** Nothing was prepared and nothing went wrong: somebody cancelled it, or memory is off. */
  | { readonly type: 'ended'; readonly turn: TurnId }
  | { readonly type: 'failed'; readonly turn: TurnId; readonly message: string };

/**
 * The one writer of an archive: whoever has opened its journal under its lock. Every change is one line of the
 * journal, on stable storage before it is acknowledged and before it shows in `state`. All failures that a caller
 * should expect are `ArchiveError`s with a sentence for people.
 */
export class Archive {
  readonly state: ArchiveState;
  readonly #commits: Commits;
  readonly #listeners = new Set<(event: ArchiveEvent) => void>();
  readonly #preparer: Preparer;
  readonly #binder: Binder;
  readonly #checkpointer: Checkpointer | undefined;
  #readOnly: string | undefined;

  private constructor(
    private readonly options: ArchiveOptions,
    { state, position }: Replay,
  ) {
    const { journal, clock, log } = options;
    this.state = state;
    const { checkpoint: store } = journal;
    this.#checkpointer = store && new Checkpointer({ state, position, store, log });
    this.#commits = new Commits({
      state: this.state,
      journal,
      clock,
      check: () => this.#refuseWhenReadOnly(),
      stored: (n, line) => {
        this.#checkpointer?.committed(line);
        this.#emit({ type: 'commit', n });
      },
      misfit: reason => {
        this.#readOnly = `The archive's journal took a change that does not fit: ${reason}.`;
        return new ArchiveError('archive', this.#readOnly);
      },
    });
    const write = this.#commits.decide.bind(this.#commits);
    this.#binder = new Binder(this.state, options.blobs, write);
    this.#preparer = new Preparer({
      state: this.state,
      clock,
      log,
      write,
      viewBytes: options.viewBytes ?? VIEW_BYTES,
      related: options.related ?? (() => Promise.resolve([])),
      sleep: options.sleep ?? sleep,
    });
  }

  /**
   * Reads the whole journal, with the help of its checkpoint where that is right. A journal that is damaged opens for
   * reading up to the place of damage, with `readOnly` set; nothing is cut or repaired here. Rejects with `archive`
   * when the journal cannot be read, and then the caller closes it.
   */
  static async open(options: ArchiveOptions): Promise<Archive> {
    const { journal, log } = options;
    const replay = await replayJournal(journal).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ArchiveError('archive', reason, { cause: error });
    });
    const archive = new Archive(options, replay);
    const damage = replay.damage ?? (journal.tail.state === 'damaged' ? journal.tail : undefined);
    if (damage) {
      archive.#readOnly = `The archive's journal is damaged at byte ${damage.offset}: ${damage.reason}.`;
      log.error(archive.#readOnly);
    } else archive.#checkpointer?.replayed(replay.replayed);
    return archive;
  }

  /** Why nothing can be written; undefined while all is well. */
  get readOnly(): string | undefined {
    return this.#readOnly;
  }
  /** Whether memory is on. */
  get memory(): boolean {
    return this.state.mode ?? this.options.memoryDefault ?? true;
  }
  /** The last branch that was bound or prepared. */
  get chain(): Chain {
    return this.#binder.current;
  }

  /**
   * `journal/append`: resolves once the finished message is on stable storage. A capture known already, and a message
   * without visible content, are acknowledged without writing.
   */
  async append(request: AppendRequest): Promise<void> {
    // Whatever the caller's types say: nothing but parsed messages reaches a journal, and so no thinking.
    const capture = parseCapture(request.capture);
    const message = parseMessage(request.message);
    if (!capture || !message) throw new ArchiveError('invalid', 'That is no message of a session.');
    if (recordsOf(message).length === 0) return;
    this.#refuseWhenReadOnly();
    await this.#commits.message(
      capture,
      hasInlineImage(message)
        ? async () => ({ op: 'message', capture, message: await storeImages(message, this.options.blobs) })
        : { op: 'message', capture, message },
    );
  }

  /** `journal/bind`: gives messages their place in a chain; see `Binder`. */
  bind(request: BindRequest): Promise<BindReply> {
    return this.#binder.bind(request);
  }

  /**
   * `turn/prepare`: settles every summary of that branch, evaluates its partition under the turn's budget and freezes
   * the view. The same turn gets the same receipt, however often and at whatever moment it asks. Rejects with
   * `cancelled`, `off`, `prepare` (nothing is lost, the next prompt tries again), `invalid` or `archive`.
   */
  async prepare(
    request: PrepareRequest,
    compactor: Compactor,
    progress: (p: Progress) => void,
    signal: AbortSignal,
  ): Promise<FrozenView> {
    const { turn } = request;
    const report = (p: Progress): void => {
      progress(p);
      this.#emit({ type: 'preparing', turn, progress: p });
    };
    try {
      this.#refuseWhenReadOnly();
      if (!this.memory) throw new ArchiveError('off', 'Memory is off for this session.');
      const view = await this.#preparer.prepare(request, compactor, report, signal);
      this.#binder.select(request.chain);
      this.#emit({ type: 'prepared', turn });
      return view;
    } catch (error) {
      if (error instanceof ArchiveError && (error.code === 'cancelled' || error.code === 'off'))
        this.#emit({ type: 'ended', turn });
      else
        this.#emit({ type: 'failed', turn, message: error instanceof Error ? error.message : String(error) });
      throw error;
    }
  }

  /**
   * Starts on the lines that a branch still lacks, without anybody waiting: for after a turn that a person started.
   * Failures are logged; the next prepare tries again.
   */
  buildInBackground(chain: Chain, compactor: Compactor): void {
    const branch = this.state.branch(chain);
    if (branch && this.memory && this.#readOnly === undefined) this.#preparer.build(branch, compactor);
  }

  /** `turn/settled`: what became of a turn's requests. */
  async settled({ turn, requests, status }: SettledRequest): Promise<void> {
    await this.#commits.decide(() => {
      const known = this.state.turn(turn);
      if (!known) throw new ArchiveError('invalid', `No view was frozen for turn ${turn}.`);
      const same = known.sent?.requests === requests && known.sent.status === status;
      return same ? [] : [{ op: 'sent', turn, requests, status }];
    });
  }

  /** `memory/mode`: switches memory on or off for this archive, for good. */
  async setMode(on: boolean): Promise<void> {
    await this.#commits.decide(() => (this.state.mode === on ? [] : [{ op: 'mode', on }]));
  }

  /** The branch of that name, or the current one. Throws `invalid` for an unknown name. */
  branch(chain: Chain = this.chain): Branch {
    const branch = this.state.branch(chain);
    if (!branch) throw new ArchiveError('invalid', `This archive has no branch ${chain}.`);
    return branch;
  }
  /** `memory/zoom` */
  async zoom(request: ZoomRequest): Promise<ZoomAnswer> {
    await this.state.ready(request.chain ?? this.chain);
    return zoom(this.branch(request.chain), request);
  }
  /** `memory/date` */
  date(request: { readonly start: number; readonly chain?: Chain }): DateAnswer {
    return date(this.branch(request.chain), request.start);
  }
  /** `memory/search` */
  async search(request: SearchRequest): Promise<SearchAnswer> {
    await this.state.ready(request.chain ?? this.chain);
    return search(this.branch(request.chain), request);
  }
  /** `memory/status` */
  async status(): Promise<ArchiveStatus> {
    await this.state.ready(this.chain);
    return statusOf(this.state, this.branch(), this.memory, this.#readOnly);
  }

  /** Stops with the function it returns. A listener that throws is logged and hurts nobody. */
  onChange(listener: (event: ArchiveEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends all work and waits for the writes under way. The journal is closed by whoever opened it. */
  async close(): Promise<void> {
    await this.#preparer.close();
    await this.#commits.idle();
    await this.#checkpointer?.close();
  }

  #refuseWhenReadOnly(): void {
    if (this.#readOnly !== undefined)
      throw new ArchiveError(
        'archive',
        `${this.#readOnly} Nothing was deleted. Run "strata verify" on its folder.`,
      );
  }

  #emit(event: ArchiveEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.options.log.error(`A listener of an archive failed: ${String(error)}`);
      }
    }
  }
}

const sleep: Sleep = (ms, signal) =>
  new Promise(resolve => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
