import type { BindReply, BindRequest, SettledRequest } from '../archive/requests';
import type { SummaryRequest } from '../archive/ports';
import { ask } from '../link/ask';
import { LinkError, type Owner } from '../link/protocol';
import { Ancestry } from './ancestry';
import { Captures } from './capture';
import { Footer } from './footer';
import { identityOf } from './identity';
import { branchMemory, modeMarker } from './marker';
import { OwnerSearch } from './ownerSearch';
import { Ownership, START_LIMIT_MS, notOwned, type Owned, type Settled } from './ownership';
import type { ExtensionAPI, ExtensionContext, PiFunctions, PiModel } from './piTypes';
import { keepCutOff, reconcile, type Patience } from './reconcile';
import type { Failure } from './stop';
import { summarize, type SummaryModel } from './summaries';
import type { Turn } from './turn';
import { TurnReports } from './turnReports';
import { WholeSession, sayGap } from './wholeSession';

/** As many entries are stored before anybody wonders; of more, how far it is. */
const LONG = 500;

/** What this Pi knows of one session: its owner, its branch, its running turn, and what failed. */
export class MemorySession {
  readonly ancestry: Ancestry;
  readonly captures = new Captures();
  readonly footer: Footer;
  turn: Turn | undefined;
  /** The running turn's; the next prompt tries again. */
  failure: Failure | undefined;
  /** Is memory wanted? The archive's mode while there is an owner, else what the branch says; on by default. */
  memory: boolean;
  readonly #ownership: Ownership;
  /** False with `--no-session`: such a memory ends with its owner. */
  readonly #hasFile: boolean;
  readonly #whole: WholeSession;
  /** What a damaged line cut off and the present owner holds. */
  readonly #kept = new Set<string>();
  #model: SummaryModel | undefined;
  #records = 0;
  readonly #reports = new TurnReports();
  readonly #search = new OwnerSearch(signal => this.#look(signal));
  #started: Promise<void> | undefined;

  constructor(
    readonly pi: ExtensionAPI,
    readonly functions: PiFunctions,
    /** The archive root, for finding owners. */
    root: string,
    ctx: ExtensionContext,
  ) {
    this.footer = new Footer(ctx.ui, ctx.mode);
    this.#whole = new WholeSession(ctx.sessionManager, gap =>
      this.footer.notify(sayGap(gap), gap.state === 'cut' ? 'warning' : 'info'),
    );
    this.ancestry = new Ancestry(this.#whole);
    this.memory = branchMemory(this.#whole).said !== 'off';
    this.rememberModel(ctx);
    const identity = identityOf(ctx);
    this.#hasFile = identity.sessionFile !== undefined;
    const summaries = (request: SummaryRequest, signal: AbortSignal) =>
      summarize(this.#model, request, signal);
    this.#ownership = new Ownership({
      root,
      identity,
      pi: { summarize: summaries },
      memoryDefault: () => this.memory,
      lost: name => {
        if (this.turn) return;
        if (this.memory && !this.failure) this.footer.show(`memory: ${name} went away; looking for it`);
        this.seekOwner();
      },
    });
  }

  /** The owner as last settled, as long as it is connected. */
  get owner(): Owner | undefined {
    return this.#ownership.owner;
  }

  /** Why there is no owner, in a sentence for people, if an attempt to find one has said so. */
  get absence(): string | undefined {
    return this.#ownership.absence;
  }

  /** Which model summaries use: the session's present one. */
  rememberModel(ctx: ExtensionContext): void {
    const model = ctx.model as PiModel | undefined;
    if (model) this.#model = { registry: ctx.modelRegistry, model };
  }

  /**
   * Finds the owner and gives it what it lacks of the session; at most 10 s. Whoever needs the owner waits for this
   * first: `/reload` starts an extension anew inside a running turn (Pi 1.3). Never rejects.
   */
  start(): Promise<void> {
    // VS Code brings its terminals back before its windows serve: there a prompt is soon enough to own the archive.
    this.#started ??= this.settle(process.env['TERM_PROGRAM'] !== 'vscode').then(
      settled => (settled.state === 'owned' ? this.#adopt(settled.owner) : undefined),
      () => undefined,
    );
    return this.#started;
  }

  /** Settles who owns the archive (this Pi where it may) and whether memory is on. Between turns; at most 5 s a step. */
  async settle(mayOwn = true): Promise<Settled> {
    await this.#search.stop();
    const what = `memory: ${this.owner ? 'waiting' : 'looking'} for VS Code …`;
    if (!this.owner) this.footer.show(what);
    const settled = await this.footer.during(what, this.#ownership.settle(mayOwn));
    if (settled.state === 'none') {
      this.memory = !settled.readOnly && branchMemory(this.ancestry.session).said !== 'off';
      this.footer.show(this.memory ? 'memory: not available' : 'memory: off');
      if (settled.readOnly)
        this.footer.notifyOnce(`This session runs without memory. ${settled.reason}`, 'warning');
      if (!mayOwn) this.seekOwner();
      return settled;
    }
    this.memory = settled.opened.memory;
    await this.#meet(settled);
    try {
      await this.#catchUp(settled);
    } catch (error) {
      // A prompt without memory needs nothing of the owner. What it did not hear, it is told at the next one.
      if (this.memory) return notOwned(error);
    }
    this.showState();
    return settled;
  }

  /**
   * What the running turn needs of the owner. If that goes away meanwhile, the turn waits up to 30 s for another one (or
   * the same window, reloaded) and `work` is done again there: what was acknowledged is known to it. Rejects with what
   * `work` rejects with, with `lost` when nobody came, and at once when no turn with memory runs.
   */
  async withOwner<T>(signal: AbortSignal | undefined, work: (owner: Owner) => Promise<T>): Promise<T> {
    for (;;) {
      const owner = this.owner ?? (await this.#regain(signal));
      try {
        return await work(owner);
      } catch (error) {
        if (!(error instanceof LinkError && error.code === 'lost')) throw error;
        // That it is gone may be heard a moment after the request failed. Who is still there just was too slow.
        await new Promise(resolve => setImmediate(resolve));
        if (this.owner === owner) throw error;
      }
    }
  }

  /** Puts what the branch has and the owner lacks into the archive. Rejects with what the link says. */
  async reconcile(owner: Owner, patience: Patience, until?: string): Promise<void> {
    await this.ancestry.readInPieces(this.#say('reading this session'));
    const bind = async (request: BindRequest): Promise<BindReply> => {
      const reply = await ask(cancelled => owner.bind(request, cancelled), {
        ...patience,
        what: 'the archive',
      });
      if (reply.ok) this.#records = reply.records;
      return reply;
    };
    const { ancestry, captures } = this;
    const parts = { ancestry, captures, bind, progress: this.#say('storing this session') };
    const work = keepCutOff({ ...parts, kept: this.#kept }, this.#whole).then(() => reconcile(parts, until));
    if (ancestry.extent.left < LONG) return this.storing(work);
    await work;
    this.showState();
  }

  #say(what: string) {
    return (done: number, total: number): void => {
      if (total >= LONG && !this.failure)
        this.footer.show(`memory: ${what}, ${done.toLocaleString('en')} of ${total.toLocaleString('en')}`);
    };
  }

  /** Waits for the archive, and says so when it takes long: Pi goes on only after what was said is stored. */
  storing<T>(work: Promise<T>): Promise<T> {
    if (this.failure) return work;
    const what = 'memory: waiting until VS Code has stored this step …';
    return this.footer.during(this.turn ? `${what} Esc ends the turn` : what, work);
  }

  /**
   * What the archive lacks of the session, as far as 5 s allow; the first request does the rest. A session made
   * without Strata gets all of its memory here.
   */
  async #adopt(owner: Owner, until?: AbortSignal): Promise<void> {
    const limit = AbortSignal.timeout(START_LIMIT_MS);
    const signal = until ? AbortSignal.any([until, limit]) : limit;
    try {
      await this.reconcile(owner, { ms: START_LIMIT_MS, signal });
    } catch {
      // Tried again, with a signal and what is shown meanwhile, by the first request.
    }
    this.showState();
  }

  /** Tells the owner that a turn is over; what cannot be told now is told at the next prompt. */
  async report(request: SettledRequest, now: boolean): Promise<void> {
    this.#reports.add(request);
    const { owner } = this;
    if (owner && now) await this.#reports.tell(owner);
  }

  /**
   * Turns memory on or off through the owner, or on this branch until there is one that takes it. Off always works:
   * it is the way out when the owner or its archive has failed. Rejects with a `LinkError` when on does not.
   */
  async setMode(on: boolean): Promise<void> {
    const told = await this.#tellMode(on);
    this.pi.appendEntry(...modeMarker(on, told));
    this.memory = on;
    this.showState();
  }

  /** Stops the running turn: nothing leaves any more, and the reason is shown. */
  fail(reason: string, ctx: ExtensionContext): void {
    if (this.failure) return;
    this.failure = { reason, shown: false };
    this.showState();
    ctx.abort();
  }

  showState(): void {
    if (this.failure) this.footer.show('memory: stopped this turn');
    else if (!this.memory) this.footer.show('memory: off');
    else this.footer.show(`memory: on, ${this.#records} ${this.#records === 1 ? 'record' : 'records'}`);
  }

  /** Lets go of the owner. Where that is this Pi, its archive is closed and free for the next one; at most 5 s. */
  async dispose(): Promise<void> {
    await this.#search.stop();
    await ask(this.#ownership.dispose(), { ms: START_LIMIT_MS, what: 'the archive to close' });
  }

  /** Between turns, without an owner: a window that comes back gets the session without waiting for a prompt. */
  seekOwner(): void {
    if (!this.owner) this.#search.start();
  }

  async #look(signal: AbortSignal): Promise<boolean> {
    if (this.turn || this.owner) return true;
    try {
      const found = await this.#ownership.seek(signal);
      if (!found) return false;
      this.memory = found.opened.memory;
      await this.#meet(found);
      await this.#catchUp(found);
      await this.#adopt(found.owner, signal);
      return true;
    } catch {
      // The next prompt settles it, and says what is wrong.
      return this.owner !== undefined;
    }
  }

  async #regain(signal: AbortSignal | undefined): Promise<Owner> {
    if (!this.turn?.projected)
      throw new LinkError('lost', 'VS Code, which keeps the memory of this session, went away.');
    const what = 'memory: VS Code went away; waiting up to 30 s for it … Esc ends the turn';
    const owned = await this.footer.during(what, this.#ownership.regain(signal));
    await this.#meet(owned);
    return owned.owner;
  }

  /** What an owner says of its archive; of a new one that is all we know of it. */
  async #meet({ opened, isNew }: Owned): Promise<void> {
    this.#records = opened.records;
    await this.ancestry.readInPieces(this.#say('reading this session'));
    if (!isNew) return;
    this.ancestry.ownerHolds(opened.chain);
    this.#kept.clear();
  }

  async #tellMode(on: boolean): Promise<boolean> {
    const { owner } = this;
    if (!owner) return false;
    try {
      await ask(cancelled => owner.setMode(on, cancelled), { ms: START_LIMIT_MS, what: 'the archive' });
      return true;
    } catch (error) {
      if (on || !(error instanceof LinkError)) throw error;
      return false;
    }
  }

  async #catchUp({ owner, isNew }: Owned): Promise<void> {
    const { said, untold } = branchMemory(this.ancestry.session);
    // A memory that went with its owner took along what a person had said.
    const word = untold ?? (isNew && !this.#hasFile && said !== 'none' ? said : undefined);
    if (word !== undefined && (untold !== undefined || (word === 'on') !== this.memory)) {
      const on = word === 'on';
      // What the person said counts at once, whatever becomes of telling it.
      this.memory = on;
      await ask(cancelled => owner.setMode(on, cancelled), { ms: START_LIMIT_MS, what: 'the archive' });
      this.pi.appendEntry(...modeMarker(on, true));
    }
    await this.#reports.tell(owner);
  }
}
