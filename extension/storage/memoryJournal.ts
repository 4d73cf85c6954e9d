import { crc32 } from 'node:zlib';
import type { Frame, FrameRef, Journal, JournalLine, JournalSource } from '../archive/ports';

/**
 * The journal of a session that Pi keeps no file for (`--no-session`): it holds what an archive needs until the
 * owner ends, and nothing of it reaches a disk. Offsets are line numbers, lengths are 1.
 */
export class MemoryJournal implements Journal {
  readonly tail = { state: 'clean' } as const;
  readonly unknown = false;
  readonly #lines: string[] = [];

  /** The same lines for a reader. */
  readonly source: JournalSource = {
    read: from =>
      Promise.resolve({ frames: this.#from(from), next: this.#lines.length, more: false, tail: this.tail }),
    frame: ref => this.read(ref),
  };

  async *frames(): AsyncIterable<readonly Frame[]> {
    yield (await this.source.read(0)).frames;
  }
  append(json: string): Promise<JournalLine> {
    return Promise.resolve({ offset: this.#lines.push(json) - 1, length: 1, crc: crc32(json) });
  }
  read(ref: FrameRef): Promise<string> {
    const line = this.#lines[ref.offset];
    return line === undefined
      ? Promise.reject(new RangeError(`no line ${ref.offset} in this session's memory`))
      : Promise.resolve(line);
  }
  reopen(): Promise<void> {
    return Promise.resolve();
  }
  close(): Promise<void> {
    return Promise.resolve();
  }

  #from(line: number): Frame[] {
    return this.#lines
      .slice(line)
      .map((json, i) => ({ offset: line + i, length: 1, crc: crc32(json), json }));
  }
}
