import type { Address } from '../archive/address';
import type { Branch } from '../archive/branch';
import { ArchiveFollower } from '../archive/follower';
import type { ArchiveId } from '../archive/ids';
import type { JournalSource, JournalTail } from '../archive/ports';
import { RecentItems } from '../archive/recentItems';
import type { RowText } from './memoryRows';

/** Beginnings of records, for rows that have no line yet. */
const HEAD_CHARS = 400;
const HEADS_CHARS = 1024 * 1024;
/** Archives kept in memory: the one that is shown, and those of open documents. */
const MAX_READERS = 6;

/** Reads one archive for the UI, in the owner's window too, and follows its journal. Writes nothing. */
export class ArchiveReader {
  readonly #heads = new RecentItems<string, string>(HEADS_CHARS);

  private constructor(
    readonly id: ArchiveId,
    readonly follower: ArchiveFollower,
  ) {}

  /** Reads the whole journal once. Rejects when it can't be read. */
  static async open(id: ArchiveId, source: JournalSource): Promise<ArchiveReader> {
    const reader = new ArchiveReader(id, new ArchiveFollower(source));
    await reader.refresh();
    return reader;
  }

  /** Reads what is new, after any reading that is under way. */
  async refresh(): Promise<void> {
    await this.follower.refresh();
  }

  /** Commits read so far: unchanged means that nothing has to be drawn anew. */
  get commits(): number {
    return this.follower.state.commits;
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
    const key = `${source.chain}/${record - source.first}`;
    const known = this.#heads.get(key);
    if (known !== undefined) return known;
    const head = (await branch.raw(record)).slice(0, HEAD_CHARS);
    this.#heads.set(key, head, head.length);
    return head;
  }
}

/** The readers of a window, one an archive, the least recently used ones forgotten. */
export class ArchiveReaders {
  readonly #open = new Map<ArchiveId, Promise<ArchiveReader>>();

  /** `find` gives an archive's journal, or rejects with a sentence. */
  constructor(private readonly find: (id: ArchiveId) => Promise<JournalSource>) {}

  /** The archive's reader, up to date. Rejects with a sentence when it can't be read; the next call tries again. */
  async reader(id: ArchiveId): Promise<ArchiveReader> {
    const known = this.#open.get(id);
    if (known) {
      this.#keep(id, known);
      const reader = await known;
      await reader.refresh();
      return reader;
    }
    const opening = this.find(id).then(source => ArchiveReader.open(id, source));
    this.#keep(id, opening);
    try {
      return await opening;
    } catch (error) {
      if (this.#open.get(id) === opening) this.#open.delete(id);
      throw error;
    }
  }

  /** Forgets everything read: the root has changed, or an archive was replaced. */
  clear(): void {
    this.#open.clear();
  }

  #keep(id: ArchiveId, reader: Promise<ArchiveReader>): void {
    this.#open.delete(id);
    this.#open.set(id, reader);
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= MAX_READERS) break;
      this.#open.delete(oldest);
    }
  }
}
