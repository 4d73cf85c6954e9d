import { childrenOf, formatAddress, type Address } from './address';
import { ArchiveError } from './archiveError';
import type { Branch } from './branch';
import { clipForCompactor } from './clip';
import type { CompactorContext } from './compactorContext';
import type { ModelLine } from './line';
import type { NodeOp } from './ops';
import { ReadyParents } from './readyParents';
import type { Progress } from './requests';
import { Serial } from './serial';
import { runSummaryJob, type JobInput, type JobOutcome, type JobTools } from './summaryJob';
import { oneLine } from './text';

/** Model calls at once. */
const JOBS = 8;
/** Long records that may be summarised before the oldest of them is published: see design.md section 10. */
const LEAF_WINDOW = 4;

/** A reason of our own: the engine's default one costs a stack trace for each call. */
const ABANDONED = new Error('this summary is no longer waited for');

export interface BuildTools extends Omit<JobTools, 'stop'> {
  readonly context: CompactorContext;
  /** Targets above this are clipped for the compactor. */
  readonly maxInputBytes: number;
  /** Writes the nodes in one commit; resolves when they are on stable storage and in the branch. */
  readonly publish: (nodes: readonly NodeOp[]) => Promise<void>;
  readonly progress: (p: Progress) => void;
}

/**
 * Builds every missing line of a branch by model calls: a pool of jobs, oldest first. A parent starts as soon as
 * both its children exist; the next few long leaves are worked on ahead, but published strictly in order
 * (spec/archive.md 2.3, design.md section 10).
 */
export class Build {
  readonly #running = new Map<string, Promise<void>>();
  readonly #outcomes: { readonly a: Address; readonly outcome: JobOutcome }[] = [];
  /** Leaves that are done before their turn to be published. */
  readonly #early = new Map<number, ModelLine>();
  /** No further call is started. */
  readonly #stop = new AbortController();
  /** Nobody wants the replies of the calls under way: cancelled, or nothing is waited for any more. */
  readonly #abandon = new AbortController();
  readonly #ready: ReadyParents;
  /** Read one after the other, so that calls begin in the order their jobs were chosen in. */
  readonly #inputs = new Serial();
  #failure: string | undefined;

  constructor(
    private readonly branch: Branch,
    private readonly tools: BuildTools,
  ) {
    this.#ready = new ReadyParents(branch);
  }

  /**
   * Resolves when nothing is missing. Rejects with an `ArchiveError`: `cancelled` at once after Esc, `prepare` when a
   * job has failed for good, after the calls under way have ended; or as `publish` does. What is published stays.
   */
  async run(): Promise<void> {
    const { cancel, progress } = this.tools;
    const total = this.branch.missing;
    if (total === 0) return;
    progress({ done: 0, total });
    let onCancel = () => {};
    const cancelled = new Promise<void>(resolve => {
      onCancel = () => {
        this.#abandon.abort(ABANDONED);
        resolve();
      };
    });
    cancel.addEventListener('abort', onCancel);
    try {
      for (;;) {
        await this.#publish();
        progress({ done: total - this.branch.missing, total });
        if (cancel.aborted) throw new ArchiveError('cancelled', 'Preparing memory was cancelled.');
        if (this.#failure === undefined) this.#start();
        if (this.#running.size === 0) break;
        await Promise.race([...this.#running.values(), cancelled]);
      }
    } finally {
      cancel.removeEventListener('abort', onCancel);
      this.#abandon.abort(ABANDONED);
    }
    if (this.#failure !== undefined) throw new ArchiveError('prepare', this.#failure);
    const { missing } = this.branch;
    if (missing > 0)
      throw new ArchiveError('prepare', `what comes before ${missing} of its lines does not fit the budget`);
  }

  /** Fills the pool, with what ends first; of what ends together, the smaller. */
  #start(): void {
    const tooEarly = new Set<string>();
    const parents: Address[] = [];
    while (this.#running.size < JOBS) {
      const parent = this.#ready.first;
      const leaf = this.#nextLeaves().find(
        next => !this.#early.has(next.start) && !this.#isTaken(next, tooEarly),
      );
      const a = leaf && parent && endsFirst(parent, leaf) ? parent : (leaf ?? parent);
      if (!a) break;
      if (a === parent) this.#ready.takeFirst();
      // A leaf that is ahead of its turn knows only what is summarised so far.
      const end = a.count === 1 ? this.branch.processed : a.start + a.count;
      const context = this.tools.context.before(end, this.branch);
      const id = formatAddress(a);
      // Older parents first: with them the context shrinks, and this job's turn comes again.
      if (!context) {
        tooEarly.add(id);
        if (a === parent) parents.push(a);
      } else this.#running.set(id, this.#job(a, id, context));
    }
    for (const a of parents) this.#ready.add(a);
  }

  #isTaken(a: Address, tooEarly: ReadonlySet<string>): boolean {
    const id = formatAddress(a);
    return this.#running.has(id) || tooEarly.has(id);
  }

  /** The long records from the first unpublished one on, as many as the window holds. */
  #nextLeaves(): Address[] {
    return this.branch.longFrom(this.branch.processed, LEAF_WINDOW).map(start => ({ start, count: 1 }));
  }

  async #job(a: Address, id: string, context: readonly Address[]): Promise<void> {
    const outcome = await this.#inputs
      .run(() => this.#input(a, context))
      .then(
        input =>
          runSummaryJob(input, { ...this.tools, cancel: this.#abandon.signal, stop: this.#stop.signal }),
        (error: unknown): JobOutcome => ({ state: 'failed', reason: messageOf(error) }),
      );
    this.#running.delete(id);
    this.#outcomes.push({ a, outcome });
  }

  async #input(a: Address, before: readonly Address[]): Promise<JobInput> {
    const context = await this.#shown(before);
    const children = childrenOf(a);
    if (children) {
      const text = (await this.#shown(children)).join('\n');
      return { context, target: { kind: 'neighbours', text }, clipped: false };
    }
    const raw = await this.branch.raw(a.start);
    const clipped = clipForCompactor(raw, this.tools.maxInputBytes);
    return { context, target: { kind: 'record', text: clipped ?? raw }, clipped: clipped !== undefined };
  }

  /** Lines as compactors are shown them: bare, each on one line. */
  async #shown(addresses: readonly Address[]): Promise<string[]> {
    const texts: string[] = [];
    for (const a of addresses) texts.push(oneLine(await this.branch.lineText(a)));
    return texts;
  }

  /** Publishes what is done and whose turn it is, until nothing is. */
  async #publish(): Promise<void> {
    for (;;) {
      const parents: { a: Address; line: ModelLine }[] = [];
      for (const { a, outcome } of this.#outcomes.splice(0)) {
        if (outcome.state === 'failed' && this.#failure === undefined) {
          this.#failure = outcome.reason;
          this.#stop.abort();
        }
        if (outcome.state !== 'done') continue;
        if (a.count === 1) this.#early.set(a.start, outcome.line);
        else parents.push({ a, line: outcome.line });
      }
      const done = [...parents, ...this.#leavesInTurn()];
      if (done.length === 0) return;
      await this.tools.publish(done.map(({ a, line }) => this.#node(a, line)));
      // Else the same job would be ready again, and paid for again, for ever.
      const lost = done.find(({ a }) => !this.branch.line(a));
      if (lost) throw new Error(`line ${formatAddress(lost.a)} was published and does not show`);
      this.tools.context.grow(this.branch);
      this.#ready.look(done.map(({ a }) => a));
    }
  }

  #leavesInTurn(): { a: Address; line: ModelLine }[] {
    const leaves: { a: Address; line: ModelLine }[] = [];
    for (const a of this.#nextLeaves()) {
      const line = this.#early.get(a.start);
      if (!line) break;
      leaves.push({ a, line });
      this.#early.delete(a.start);
    }
    return leaves;
  }

  #node(a: Address, line: ModelLine): NodeOp {
    return { op: 'node', end: this.branch.endOf(a), count: a.count, ...line };
  }
}

/** Of two jobs the one whose target ends first; of those that end together, the smaller. */
function endsFirst(a: Address, b: Address): boolean {
  const difference = a.start + a.count - (b.start + b.count);
  return difference < 0 || (difference === 0 && a.count < b.count);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
