import type { Frame, FrameRef, Journal, JournalLine, JournalTail } from '../../../extension/archive/ports';
import { MemoryJournal } from '../../../extension/storage/memoryJournal';

/** A journal in memory whose writes can be made to fail or to wait, and whose lines can be looked at. */
export class FaultyJournal implements Journal {
  readonly inner = new MemoryJournal();
  readonly lines: string[] = [];
  tail: JournalTail = { state: 'clean' };
  readonly unknown = false;
  /** The next write fails with this, once. */
  failure: Error | undefined;
  /** Writes wait for this. */
  gate: Promise<void> = Promise.resolve();

  /** A journal that holds these lines already. */
  static async of(lines: readonly string[]): Promise<FaultyJournal> {
    const journal = new FaultyJournal();
    for (const line of lines) await journal.append(line);
    return journal;
  }

  get source() {
    return this.inner.source;
  }
  frames(): AsyncIterable<readonly Frame[]> {
    return this.inner.frames();
  }
  async append(json: string): Promise<JournalLine> {
    await this.gate;
    const { failure } = this;
    this.failure = undefined;
    if (failure) throw failure;
    this.lines.push(json);
    return this.inner.append(json);
  }
  read(ref: FrameRef): Promise<string> {
    return this.inner.read(ref);
  }
  reopen(): Promise<void> {
    return Promise.resolve();
  }
  close(): Promise<void> {
    return this.inner.close();
  }
}
