import type { FoundJournal, JournalSource, JournalTail } from './ports';
import { keptCheckpoint, Replay } from './replay';
import { Serial, turn } from './serial';
import type { ArchiveState } from './state';

/** A journal that is being gone through, and how far. */
interface Reading {
  readonly generation: number;
  readonly source: JournalSource;
  readonly replay: Replay;
  next: number;
  tail: JournalTail;
}

/** An archive that is forgotten in as fast as it is read is not read for ever. */
const ATTEMPTS = 5;

/**
 * The read model of an archive that somebody else may own and be writing to: the one way in which anything is shown of
 * an archive, in its owner's window too. Takes no lock and writes nothing. Goes on where it stopped while a journal
 * grows; when the archive has another journal it is read from its beginning, and until that is done the old state
 * stays, so nothing is ever a mixture of two.
 */
export class ArchiveFollower {
  readonly #find: () => Promise<FoundJournal>;
  readonly #reads = new Serial();
  #waiting: Promise<boolean> | undefined;
  #shown: Reading | undefined;
  #failure: string | undefined;
  #started = 0;

  /** One journal, or a way to find the one that is an archive's now; that may reject with a sentence. */
  constructor(journal: JournalSource | (() => Promise<FoundJournal>)) {
    const found = typeof journal === 'function' ? undefined : { generation: 0, source: journal };
    this.#find = typeof journal === 'function' ? journal : () => Promise.resolve(found as FoundJournal);
  }

  /** What was read last. Throws before the first reading that did not fail. */
  get state(): ArchiveState {
    if (!this.#shown) throw new Error(this.#failure ?? 'the archive has not been read yet');
    return this.#shown.replay.state;
  }
  /** Why the last reading failed, a sentence; undefined when it did not. What was read before can still be used. */
  get failure(): string | undefined {
    return this.#failure;
  }
  /** Grows when `state` becomes another one: what came from the old one belongs to a journal that is gone. */
  get started(): number {
    return this.#started;
  }
  /**
   * How the journal ended when it was last read. `damaged` also stands for a good line that does not fit the ones
   * before it; everything before that place is in `state`, nothing after it.
   */
  get tail(): JournalTail {
    return this.#shown ? tailOf(this.#shown) : { state: 'clean' };
  }

  /**
   * Reads what was written since. True when something new is to be seen: in `state`, `tail` or `failure`. Never
   * rejects. Lets others run about every megabyte.
   */
  refresh(): Promise<boolean> {
    // Two at once would apply the same lines twice, and a third would find nothing that the second does not.
    this.#waiting ??= this.#reads.run(() => {
      this.#waiting = undefined;
      return this.#look();
    });
    return this.#waiting;
  }

  async #look(): Promise<boolean> {
    const before = this.#mark();
    try {
      await this.#read();
      // Whoever asked for this looks at it next.
      await this.#shown?.replay.state.ready(this.#shown.replay.state.newest);
      this.#failure = undefined;
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error);
    }
    return this.#mark() !== before;
  }

  async #read(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const { generation, source } = await this.#find();
      const shown = this.#shown;
      const usable = shown?.generation === generation && tailOf(shown).state !== 'damaged';
      try {
        if (usable && (await goOn(shown))) return;
        // Damage that was repaired, and a journal that is shorter than it was, are another journal.
        if (shown?.generation === generation && (await isAsDamaged(shown))) return;
        const fresh = await readAnew(generation, source);
        // Another one may have taken its place meanwhile, and this one be gone.
        if ((await this.#find()).generation !== generation) continue;
        this.#shown = fresh;
        this.#started++;
        return;
      } catch (error) {
        if (attempt === ATTEMPTS || (await this.#find()).generation === generation) throw error;
      }
    }
  }

  #mark(): string {
    const { commits } = this.#shown?.replay.state ?? { commits: 0 };
    return JSON.stringify([this.#started, commits, this.tail, this.#failure ?? null]);
  }
}

/** A good line that does not fit counts before whatever comes after it. */
function tailOf({ replay, tail }: Reading): JournalTail {
  return replay.damage ? { state: 'damaged', ...replay.damage } : tail;
}

/** Reads on to the end. False when the journal is not the one that was read before, or is damaged where it goes on. */
async function goOn(reading: Reading): Promise<boolean> {
  for (;;) {
    const { frames, next, more, tail } = await reading.source.read(reading.next);
    if (tail.state === 'damaged' && tail.offset < reading.next) return false;
    reading.replay.take(frames);
    reading.next = next;
    reading.tail = tail;
    if (!more || reading.replay.stale || reading.replay.damage) return true;
    await turn();
  }
}

/** Whether a journal that was damaged still ends where it did: then reading all of it again would show the same. */
async function isAsDamaged(reading: Reading): Promise<boolean> {
  const old = tailOf(reading);
  if (old.state !== 'damaged' || reading.replay.damage) return old.state === 'damaged';
  const { frames, tail } = await reading.source.read(reading.next);
  return frames.length === 0 && tail.state === 'damaged' && tail.offset === old.offset;
}

async function readAnew(generation: number, source: JournalSource): Promise<Reading> {
  const checkpoint = await keptCheckpoint(source.checkpoint);
  const begun = (replay: Replay): Reading => ({
    generation,
    source,
    replay,
    next: 0,
    tail: { state: 'clean' },
  });
  if (checkpoint) {
    const replay = new Replay(ref => source.frame(ref), { checkpoint: true });
    replay.expect(checkpoint);
    const helped = begun(replay);
    if ((await goOn(helped)) && !helped.replay.stale && !helped.replay.short) return helped;
  }
  const plain = begun(new Replay(ref => source.frame(ref)));
  if (!(await goOn(plain))) throw new Error('The journal became shorter while it was read. Look again.');
  return plain;
}
