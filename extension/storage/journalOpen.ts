import path from 'node:path';
import type { CheckpointStore, Frame, FrameRef, Journal, JournalLine, JournalTail } from '../archive/ports';
import { checkpointFile } from './checkpointFile';
import { nodeDisk, type Disk, type DiskFile } from './disk';
import { scanFrames } from './frameScan';
import { DiskJournal } from './journal';
import { JournalError, reasonOf } from './journalError';
import { cutTornTail } from './tornTail';

/**
 * Opens an existing journal for writing and checks every line of it. The caller must hold the archive's lock.
 * A torn last line is copied to `journal.broken-<time>` and cut; a damaged journal opens, but takes no lines.
 * Throws the system's error when the file can't be opened, and a `JournalError` (`tail`) when the torn end could not
 * be put aside.
 */
export async function openJournal(name: string, disk: Disk = nodeDisk): Promise<Journal> {
  const journal = await beginJournal(name, disk);
  try {
    for await (const _ of journal.frames());
  } catch (e) {
    await journal.close();
    throw e;
  }
  return journal;
}

/**
 * The same, but the lines are checked when `frames` is read, which hands them on: whoever replays a journal reads its
 * file once. Whoever appends first checks it first. `checked` is called once, before the last lines count as read; what
 * it throws, the reading rejects with.
 */
export async function beginJournal(
  name: string,
  disk: Disk = nodeDisk,
  checked: Checked = () => Promise.resolve(),
): Promise<Journal> {
  return new UnreadJournal(disk, name, await disk.open(name, 'edit'), checked);
}

type Checked = (tail: JournalTail) => Promise<void>;

class UnreadJournal implements Journal {
  readonly checkpoint: CheckpointStore;
  #journal: DiskJournal | undefined;
  #reading: Promise<DiskJournal> | undefined;

  constructor(
    private readonly disk: Disk,
    private readonly name: string,
    private readonly file: DiskFile,
    private readonly checked: Checked,
  ) {
    this.checkpoint = checkpointFile(name, disk);
  }

  get tail(): JournalTail {
    return this.#whole.tail;
  }
  get unknown(): boolean {
    return this.#journal?.unknown ?? false;
  }

  async *frames(): AsyncIterable<readonly Frame[]> {
    if (this.#journal) {
      yield* this.#journal.frames();
      return;
    }
    const size = await this.file.size();
    const { end, tail } = yield* scanFrames(this.file, 0, size, { keep: false });
    const settled: JournalTail =
      tail.state === 'torn' ? { ...tail, kept: await this.#cut(end, size, tail.bytes) } : tail;
    await this.checked(settled);
    this.#journal = new DiskJournal(this.disk, this.name, this.file, end, settled);
  }
  append(json: string): Promise<JournalLine> {
    return this.#journal ? this.#journal.append(json) : this.#read().then(journal => journal.append(json));
  }
  read(ref: FrameRef): Promise<string> {
    return this.#journal ? this.#journal.read(ref) : this.#read().then(journal => journal.read(ref));
  }
  async reopen(): Promise<void> {
    await this.#journal?.reopen();
  }
  async close(): Promise<void> {
    await this.#reading?.catch(() => undefined);
    await (this.#journal ?? this.file).close();
  }

  get #whole(): DiskJournal {
    if (!this.#journal) throw new Error(`${this.name} has not been read to its end yet`);
    return this.#journal;
  }

  #read(): Promise<DiskJournal> {
    this.#reading ??= (async () => {
      for await (const _ of this.frames());
      return this.#whole;
    })();
    return this.#reading;
  }

  async #cut(end: number, size: number, bytes: number): Promise<string> {
    try {
      return await cutTornTail(this.disk, this.name, this.file, end, size);
    } catch (e) {
      throw new JournalError(
        'tail',
        `The last line of ${this.name} was never finished, and putting its ${bytes} bytes aside failed (${reasonOf(e)}).`,
        `Nothing that was acknowledged is affected and nothing was removed.`,
        `Free some disk space, or make ${path.dirname(this.name)} writable, and open the session again.`,
        e,
      );
    }
  }
}
