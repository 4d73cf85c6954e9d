import path from 'node:path';
import type { Frame, FrameRef, Journal, JournalLine, JournalTail } from '../archive/ports';
import { nodeDisk, type Disk, type DiskFile } from './disk';
import { decodeFrame, decodeHead, encodeFrame, HEAD_BYTES, MAX_JSON_BYTES, readFully } from './frame';
import { scanFrames } from './frameScan';
import { JournalError, reasonOf } from './journalError';

/** Waiting lines that go to the disk together are at most this long, unless one alone is longer. */
const BATCH_BYTES = 8 * 1024 * 1024;

interface Waiting {
  readonly line: Buffer;
  readonly resolve: (line: JournalLine) => void;
  readonly reject: (e: JournalError) => void;
}

/** The name of a journal's file; Forget writes a new generation beside the old one. */
export function journalName(generation: number): string {
  return `journal-${generation}.jsonl`;
}

/** Makes an empty journal and its name durable. Fails with `EEXIST` when the file is there. */
export async function createJournal(file: string, disk: Disk = nodeDisk): Promise<void> {
  const made = await disk.open(file, 'create');
  try {
    await made.sync();
  } finally {
    await made.close();
  }
  await disk.syncFolder(path.dirname(file));
}

/**
 * The append-only file behind an archive. One write and one fdatasync are in flight at a time; all lines that arrive
 * meanwhile go together in the next. A line is acknowledged after its fdatasync and never changes.
 */
export class DiskJournal implements Journal {
  private readonly queue: Waiting[] = [];
  private pumping: Promise<void> | undefined;
  /** Why this journal takes no more lines. Only `read-only` can end, by `reopen`. */
  private stopped: JournalError | undefined;
  private readonly openedEnd: number;

  constructor(
    private readonly disk: Disk,
    private readonly name: string,
    private file: DiskFile,
    /** Behind the last acknowledged line. Bytes beyond it are nobody's. */
    private end: number,
    readonly tail: JournalTail,
  ) {
    this.openedEnd = end;
    if (tail.state === 'damaged') this.stopped = damaged(name, tail.offset, tail.reason);
  }

  /** The lines that were there when it was opened, once more. */
  frames(): AsyncIterable<readonly Frame[]> {
    return scanFrames(this.file, 0, this.openedEnd);
  }

  append(json: string): Promise<JournalLine> {
    return new Promise((resolve, reject) => {
      if (this.stopped !== undefined) return reject(this.stopped);
      let line: Buffer;
      try {
        line = encodeFrame(json);
      } catch (e) {
        return reject(
          new JournalError(
            'invalid',
            reasonOf(e),
            'Nothing was written.',
            'This is a defect: please report it.',
            e,
          ),
        );
      }
      this.queue.push({ line, resolve, reject });
      this.pumping ??= this.pump();
    });
  }

  async read(ref: FrameRef): Promise<string> {
    const possible =
      Number.isSafeInteger(ref.offset) &&
      ref.offset >= 0 &&
      ref.length > HEAD_BYTES &&
      ref.length <= HEAD_BYTES + MAX_JSON_BYTES + 1 &&
      ref.offset + ref.length <= this.end;
    const body = possible ? decodeFrame(await readFully(this.file, ref.offset, ref.length)) : undefined;
    if (body === undefined) throw damaged(this.name, ref.offset, `no good line is at byte ${ref.offset}`);
    return body.toString('utf8');
  }

  get unknown(): boolean {
    return this.stopped?.code === 'read-only';
  }

  async reopen(): Promise<void> {
    if (this.stopped?.code !== 'read-only') return;
    await this.pumping;
    let file: DiskFile | undefined;
    try {
      file = await this.disk.open(this.name, 'edit');
      const size = await file.size();
      const scan = scanFrames(file, 0, Math.min(size, this.end));
      let step = await scan.next();
      while (step.done !== true) step = await scan.next();
      const { end } = step.value;
      if (end !== this.end) {
        this.stopped = damaged(
          this.name,
          end,
          `${this.end - end} bytes that were acknowledged are not as they were`,
        );
        throw this.stopped;
      }
      // What a failed write left behind was told to nobody.
      if (size > end) await file.truncate(end);
      await file.sync();
      const old = this.file;
      this.file = file;
      this.stopped = undefined;
      await old.close().catch(() => undefined);
    } catch (e) {
      await file?.close().catch(() => undefined);
      if (e instanceof JournalError) throw e;
      throw this.stop(`${this.name} could not be opened again (${reasonOf(e)}).`, e);
    }
  }

  async close(): Promise<void> {
    const first = this.stopped?.code !== 'closed';
    this.stopped = new JournalError(
      'closed',
      `${this.name} is closed.`,
      'Everything acknowledged is on disk.',
      'Open the session again.',
    );
    await this.pumping;
    if (first) await this.file.close();
  }

  private async pump(): Promise<void> {
    // All that is asked for at once goes together.
    await Promise.resolve();
    while (this.queue.length > 0) {
      const batch = this.takeBatch();
      const [only] = batch;
      const bytes = batch.length === 1 && only ? only.line : Buffer.concat(batch.map(w => w.line));
      const failure = await this.store(bytes);
      if (failure !== undefined) {
        for (const w of batch) w.reject(failure);
        // Lines count on the ones before them.
        for (const w of this.queue.splice(0)) w.reject(failure);
        continue;
      }
      for (const { line, resolve } of batch) {
        resolve({ offset: this.end, length: line.length, crc: decodeHead(line, 0)?.crc ?? 0 });
        this.end += line.length;
      }
    }
    this.pumping = undefined;
  }

  private takeBatch(): Waiting[] {
    let bytes = 0;
    let n = 0;
    for (const { line } of this.queue) {
      if (n > 0 && bytes + line.length > BATCH_BYTES) break;
      bytes += line.length;
      n++;
    }
    return this.queue.splice(0, n);
  }

  /** Puts `bytes` behind the known end, on stable storage. On failure nothing of them is left, or the journal stops. */
  private async store(bytes: Buffer): Promise<JournalError | undefined> {
    try {
      const taken = await this.file.write(bytes, this.end);
      // The disk says why it took only a part at the next call at the earliest; the known end is what counts.
      if (taken !== bytes.length) throw new Error(`only ${taken} of ${bytes.length} bytes were taken`);
    } catch (e) {
      return this.cutBack(e);
    }
    try {
      await this.file.datasync();
      return undefined;
    } catch (e) {
      // After a failed fsync the kernel may have dropped the pages and call the next fsync a success, so nothing this
      // process knows about the file's content counts any more.
      await this.file.truncate(this.end).catch(() => undefined);
      return this.stop(`${this.name} could not be brought to stable storage (${reasonOf(e)}).`, e);
    }
  }

  private async cutBack(cause: unknown): Promise<JournalError> {
    try {
      await this.file.truncate(this.end);
    } catch (e) {
      return this.stop(
        `Writing to ${this.name} failed (${reasonOf(cause)}), and so did removing the unfinished line (${reasonOf(e)}).`,
        cause,
      );
    }
    return new JournalError(
      'write',
      `Writing to ${this.name} failed (${reasonOf(cause)}).`,
      'Everything stored before is safe, and nothing of this was kept.',
      'Free some disk space and try again.',
      cause,
    );
  }

  private stop(happened: string, cause: unknown): JournalError {
    const error = new JournalError(
      'read-only',
      happened,
      'Everything acknowledged before is safe.',
      'Check the disk. The next attempt opens the file again and checks it before anything is written.',
      cause,
    );
    if (this.stopped === undefined || this.stopped.code === 'read-only') this.stopped = error;
    return error;
  }
}

function damaged(name: string, offset: number, reason: string): JournalError {
  return new JournalError(
    'damaged',
    `${name} is damaged at byte ${offset}: ${reason}.`,
    'Nothing was removed, and the lines before it can be read.',
    'Nothing more is written to it. Restore it from a backup, or start a new session.',
  );
}
