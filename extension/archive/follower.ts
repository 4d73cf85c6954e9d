import type { JournalSource, JournalTail } from './ports';
import { replayFrame } from './replay';
import { Serial } from './serial';
import { ArchiveState } from './state';

/** The read model of an archive that somebody else may own and be writing to. Takes no lock and writes nothing. */
export class ArchiveFollower {
  readonly state: ArchiveState;
  readonly #reads = new Serial();
  #next = 0;
  #tail: JournalTail = { state: 'clean' };

  constructor(private readonly source: JournalSource) {
    this.state = new ArchiveState(ref => source.frame(ref));
  }

  /**
   * How the journal ended when it was last read. `damaged` also stands for a good line that does not fit the ones
   * before it; everything before that place is in `state`, nothing after it.
   */
  get tail(): JournalTail {
    return this.#tail;
  }

  /** Reads what was written since. True when something new is in `state`, or the tail has changed. */
  refresh(): Promise<boolean> {
    // Two at once would apply the same lines twice.
    return this.#reads.run(() => this.#read());
  }

  async #read(): Promise<boolean> {
    if (this.#tail.state === 'damaged') return false;
    const before = this.state.commits;
    const old = this.#tail;
    const { frames, next, tail } = await this.source.read(this.#next);
    this.#next = next;
    this.#tail = tail;
    for (const frame of frames) {
      const damage = replayFrame(this.state, frame);
      if (!damage) continue;
      this.#tail = { state: 'damaged', ...damage };
      break;
    }
    return this.state.commits !== before || this.#tail.state !== old.state;
  }
}
