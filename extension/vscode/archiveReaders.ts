import type { Address } from '../archive/address';
import type { Branch } from '../archive/branch';
import { ArchiveFollower } from '../archive/follower';
import type { ArchiveId } from '../archive/ids';
import type { FoundJournal, JournalTail } from '../archive/ports';
import { RecentItems } from '../archive/recentItems';
import type { RowText } from './memoryRows';

/** Beginnings of records, for rows that have no line yet. */
const HEAD_CHARS = 400;
const HEADS_CHARS = 1024 * 1024;
/** Archives kept in memory: the one that is shown, and those of open documents. */
const MAX_READERS = 6;

/**
 * Reads one archive for everything that a window shows of it, in the owner's window too, and follows its journal. Writes
 * nothing.
 */
export class ArchiveReader {
  readonly follower: ArchiveFollower;
  readonly #heads = new RecentItems<string, string>(HEADS_CHARS);

  /** `find` gives the archive's journal, or rejects with a sentence. */
  constructor(
    readonly id: ArchiveId,
    find: () => Promise<FoundJournal>,
  ) {
    this.follower = new ArchiveFollower(find);
  }

  /** Reads what is new, after any reading that is under way. Rejects with a sentence when nothing can be read. */
  async refresh(): Promise<void> {
    await this.follower.refresh();
    const { failure } = this.follower;
    if (failure !== undefined) throw new Error(failure);
  }

  /** Unchanged means that nothing has to be drawn anew. */
  get mark(): string {
    return `${this.follower.started} ${this.follower.state.commits} ${this.follower.tail.state}`;
  }

  get tail(): JournalTail {
    return this.follower.tail;
  }

  /** The branch that is meant when none is named. */
  branch(): Branch {
    const branch = this.follower.state.branch(this.follower.state.newest);
    if (!branch) throw new Error('The archive names a branch that it does not hold.');
    return branch;
  }

  /** What is read for a row of the Memory view. */
  async rowText(branch: Branch, a: Address): Promise<RowText> {
    const line = branch.line(a);
    if (!line) return { text: await this.#head(branch, a.start) };
    const text = await branch.lineText(a);
    const model = line.method === 'model' ? await branch.modelLine(a) : undefined;
    return model ? { text, by: model.by } : { text };
  }

  /** The beginning of a record's raw text. */
  async #head(branch: Branch, record: number): Promise<string> {
    const source = branch.sourceOf(record);
    // What another journal of the archive forgot must not be shown from here.
    const key = `${this.follower.started}/${source.chain}/${record - source.first}`;
    const known = this.#heads.get(key);
    if (known !== undefined) return known;
    const head = (await branch.raw(record)).slice(0, HEAD_CHARS);
    this.#heads.set(key, head, head.length);
    return head;
  }
}

/** The readers of a window, one an archive, the least recently used ones forgotten. */
export class ArchiveReaders {
  readonly #open = new Map<ArchiveId, ArchiveReader>();

  /** `find` gives the journal that is an archive's now, or rejects with a sentence. */
  constructor(private readonly find: (id: ArchiveId) => Promise<FoundJournal>) {}

  /** The archive's reader, up to date. Rejects with a sentence when it can't be read; the next call tries again. */
  async reader(id: ArchiveId): Promise<ArchiveReader> {
    const reader = this.#open.get(id) ?? new ArchiveReader(id, () => this.find(id));
    this.#keep(reader);
    await reader.refresh();
    return reader;
  }

  /** Forgets everything read: the root has changed, or an archive was replaced. */
  clear(): void {
    this.#open.clear();
  }

  #keep(reader: ArchiveReader): void {
    this.#open.delete(reader.id);
    this.#open.set(reader.id, reader);
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= MAX_READERS) break;
      this.#open.delete(oldest);
    }
  }
}
