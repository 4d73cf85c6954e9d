import { encodeCheckpoint } from './checkpoint';
import type { JournalPosition } from './journalPosition';
import type { CheckpointStore, JournalLine, Log } from './ports';
import type { ArchiveState } from './state';

/** A checkpoint is written again after so many commits or bytes: what is younger is replayed at the next opening. */
const COMMITS = 2000;
const BYTES = 4 * 1024 * 1024;

/** What of a journal no checkpoint covers. */
export interface Uncovered {
  readonly commits: number;
  readonly bytes: number;
}

export interface CheckpointTools {
  readonly state: ArchiveState;
  /** Behind the last line of the journal that is in the state. */
  readonly position: JournalPosition;
  readonly store: CheckpointStore;
  readonly log: Log;
}

/**
 * Keeps an owner's state beside its journal, so that the next opening need not parse all of it. Derived, so nothing
 * waits for it and no failure of it is anybody's but the log's.
 */
export class Checkpointer {
  #since: Uncovered = { commits: 0, bytes: 0 };
  #writing: Promise<void> | undefined;

  constructor(private readonly tools: CheckpointTools) {}

  /** A commit is stored and in the state. */
  committed(line: JournalLine): void {
    this.tools.position.pass(line);
    this.#since = { commits: this.#since.commits + 1, bytes: this.#since.bytes + line.length };
    this.#startWhenDue();
  }

  /** So much of the journal had to be replayed: it is not kept. */
  replayed(since: Uncovered): void {
    this.#since = since;
    this.#startWhenDue();
  }

  /** Writes what is not kept yet; to be awaited before the lock is let go. */
  async close(): Promise<void> {
    await this.#writing;
    if (this.#since.commits > 0) this.#start();
    await this.#writing;
  }

  #startWhenDue(): void {
    if (this.#since.commits >= COMMITS || this.#since.bytes >= BYTES) this.#start();
  }

  #start(): void {
    this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
  }

  async #write(): Promise<void> {
    const { state, position, store, log } = this.tools;
    const taken = this.#since;
    this.#since = { commits: 0, bytes: 0 };
    try {
      const place = position.place();
      const parts = encodeCheckpoint({ place, saved: state.save() });
      if (parts) await store.write(parts, place.byte);
    } catch (error) {
      this.#since = {
        commits: this.#since.commits + taken.commits,
        bytes: this.#since.bytes + taken.bytes,
      };
      log.warn(
        `A checkpoint could not be written (${String(error)}). Nothing is lost: the journal is read instead.`,
      );
    }
  }
}
