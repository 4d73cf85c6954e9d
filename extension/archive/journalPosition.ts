import { createHash } from 'node:crypto';
import type { JournalLine } from './ports';

/** A place between two lines of a journal, and what stands before it. */
export interface JournalPlace {
  /** Bytes of the lines before it. */
  readonly byte: number;
  /** How many they are: one a commit. */
  readonly commits: number;
  /** 64 hex digits over their lengths and checksums: another journal of the same length has others. */
  readonly hash: string;
}

/** Lines whose numbers are hashed together: a call for each would take longer than everything else about it. */
const BATCH = 4096;

/** Goes along a journal line by line. */
export class JournalPosition {
  readonly #hash = createHash('sha256');
  readonly #batch = new DataView(new ArrayBuffer(8 * BATCH));
  #waiting = 0;
  #byte = 0;
  #commits = 0;

  get byte(): number {
    return this.#byte;
  }

  /** The line that comes next. */
  pass(line: JournalLine): void {
    this.#batch.setUint32(8 * this.#waiting, line.length);
    this.#batch.setUint32(8 * this.#waiting + 4, line.crc);
    this.#waiting++;
    this.#byte = line.offset + line.length;
    this.#commits++;
    if (this.#waiting === BATCH) this.#flush();
  }

  place(): JournalPlace {
    this.#flush();
    return { byte: this.#byte, commits: this.#commits, hash: this.#hash.copy().digest('hex') };
  }

  #flush(): void {
    this.#hash.update(new Uint8Array(this.#batch.buffer, 0, 8 * this.#waiting));
    this.#waiting = 0;
  }
}
