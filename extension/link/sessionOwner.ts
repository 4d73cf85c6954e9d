import type { Archive } from '../archive/archive';
import { ArchiveError } from '../archive/archiveError';
import type { HeldArchive } from '../archive/heldArchives';
import type { Chain } from '../archive/ids';
import type { Compactor } from '../archive/ports';
import type {
  AppendRequest,
  BindReply,
  BindRequest,
  FrozenView,
  OpenReply,
  PrepareRequest,
  Progress,
  SettledRequest,
  ZoomRequest,
} from '../archive/requests';
import { LinkError, type Owner, type PiSide, type ZoomReply } from './protocol';

/** One Pi's way into its archive, in the process that owns it: over the link, or directly where that is Pi's own. */
export class SessionOwner implements Owner {
  readonly #gone = new AbortController();
  readonly #compactor: Compactor;
  #held: Promise<HeldArchive> | undefined;
  /** Whether there was a turn, and where its Pi's branch ends: another Pi of the session may be on another one. */
  #prepared = false;
  #bound: Chain | undefined;

  /** `hold` opens the session's archive or shares the one that is open already. */
  constructor(
    private readonly hold: () => Promise<HeldArchive>,
    pi: PiSide,
  ) {
    this.#compactor = {
      summarize: (request, signal) => pi.summarize(request, AbortSignal.any([signal, this.#gone.signal])),
    };
  }

  async open(): Promise<OpenReply> {
    if (this.#gone.signal.aborted) throw new LinkError('lost', 'This connection has ended.');
    // A failed attempt is not kept: the next prompt may find the lock free.
    this.#held ??= this.hold().catch((e: unknown) => {
      this.#held = undefined;
      throw inLinkTerms(e);
    });
    const { id, archive } = await this.#held;
    const chain = archive.state.newest;
    return { archive: id, memory: archive.memory, chain, records: archive.branch(chain).records };
  }

  append(request: AppendRequest): Promise<void> {
    return this.#with(a => a.append(request));
  }
  async bind(request: BindRequest): Promise<BindReply> {
    const reply = await this.#with(a => a.bind(request));
    // Without sources it only asks what is known.
    if (reply.ok && request.sources.length > 0) this.#bound = reply.chain;
    return reply;
  }
  prepare(
    request: PrepareRequest,
    progress: (p: Progress) => void,
    signal: AbortSignal,
  ): Promise<FrozenView> {
    this.#prepared = true;
    return this.#with(a =>
      a.prepare(request, this.#compactor, progress, AbortSignal.any([signal, this.#gone.signal])),
    );
  }
  /** Also the moment for summaries of what has become complete: a prompt has authorised this turn's calls. */
  settled(request: SettledRequest): Promise<void> {
    return this.#with(async a => {
      await a.settled(request);
      if (a.memory && this.#prepared) a.buildInBackground(this.#bound ?? a.state.newest, this.#compactor);
    });
  }
  zoom(request: ZoomRequest, signal?: AbortSignal): Promise<ZoomReply> {
    return this.#with(async a => ({ ...(await a.zoom(request)) }), signal);
  }
  date(
    request: { readonly start: number; readonly chain?: Chain },
    signal?: AbortSignal,
  ): Promise<ZoomReply> {
    return this.#with(async a => ({ ...(await Promise.resolve(a.date(request))) }), signal);
  }
  search(
    request: { readonly query: string; readonly from: number; readonly chain?: Chain },
    signal?: AbortSignal,
  ): Promise<ZoomReply> {
    return this.#with(async a => ({ ...(await a.search(request)) }), signal);
  }
  status(signal?: AbortSignal): Promise<ZoomReply> {
    return this.#with(async a => ({ ...(await a.status()) }), signal);
  }
  setMode(on: boolean): Promise<void> {
    return this.#with(a => a.setMode(on));
  }

  async release(): Promise<void> {
    this.#gone.abort();
    const held = await this.#held?.catch(() => undefined);
    this.#held = undefined;
    await held?.release();
  }

  /** With a `signal`: reading, which need not begin when nobody waits for it any more. What writes is never left out. */
  async #with<T>(work: (archive: Archive) => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (!this.#held) throw new LinkError('invalid', 'The session was not opened.');
    const { archive } = await this.#held;
    if (signal?.aborted) throw new LinkError('cancelled', 'Nobody waits for this answer any more.');
    try {
      return await work(archive);
    } catch (e) {
      throw inLinkTerms(e);
    }
  }
}

/** The two rooms share these words; anything else is a defect and goes out as it is. */
function inLinkTerms(e: unknown): unknown {
  return e instanceof ArchiveError ? new LinkError(e.code, e.message) : e;
}
