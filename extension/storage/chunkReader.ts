import type { DiskFile } from './disk';
import { readFully } from './frame';

export type Readable = Pick<DiskFile, 'read'>;

/** A line's beginning that is longer is read again, with its end. */
const ROOM_BYTES = 64 * 1024;

/** What is read while the chunk before it is looked at. */
interface Ahead {
  readonly at: number;
  /** With `ROOM_BYTES` of room before what is read into it. */
  readonly buffer: Buffer;
  readonly length: Promise<number>;
}

/**
 * Reads a file from front to back in chunks that overlap: each begins where its caller has stopped in the one before.
 * The next chunk is read while the caller looks at the present one, so that neither waits for the other.
 */
export class ChunkReader {
  #ahead: Ahead | undefined;
  /** Used in turns, where chunks need not be kept: fresh memory takes longer than what is read into it. */
  readonly #buffers: Buffer[] = [];

  /** `size` in bytes is where the file ends for us. With `keep` false a chunk is good until the next is asked for. */
  constructor(
    private readonly file: Readable,
    private readonly size: number,
    private readonly chunk: number,
    private readonly keep: boolean,
  ) {}

  /**
   * At least `want` bytes from `at` on, fewer only where the file ends. `rest` are those of them that the caller has,
   * from the chunk it was given last. Rejects with the system's error.
   */
  async read(at: number, want: number, rest: Buffer = Buffer.alloc(0)): Promise<Buffer> {
    const bytes = (await this.#joined(at, want, rest)) ?? (await this.#plain(at, want));
    const next = at + bytes.length;
    if (next < this.size) this.#ahead = this.#begin(next);
    return bytes;
  }

  /** Waits for what is still being read: the file may be closed afterwards. */
  async close(): Promise<void> {
    await this.#ahead?.length.catch(() => undefined);
  }

  async #joined(at: number, want: number, rest: Buffer): Promise<Buffer | undefined> {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    if (!ahead) return undefined;
    const { buffer } = ahead;
    const length = await ahead.length;
    const fits = ahead.at === at + rest.length && rest.length <= ROOM_BYTES;
    const got = rest.length + length;
    if (!fits || got < Math.min(want, this.size - at)) return undefined;
    rest.copy(buffer, ROOM_BYTES - rest.length);
    return buffer.subarray(ROOM_BYTES - rest.length, ROOM_BYTES + length);
  }

  #plain(at: number, want: number): Promise<Buffer> {
    const length = Math.min(want, this.size - at);
    return readFully(this.file, at, length, length <= this.chunk ? this.#buffer() : undefined);
  }

  #begin(at: number): Ahead {
    const buffer = this.#buffer();
    const into = buffer.subarray(ROOM_BYTES, ROOM_BYTES + Math.min(this.chunk, this.size - at));
    const length = readFully(this.file, at, into.length, into).then(bytes => bytes.length);
    // Who asks for the chunk hears of it; who does not ask need not.
    length.catch(() => undefined);
    return { at, buffer, length };
  }

  /** The one that the chunk before the present one was in. */
  #buffer(): Buffer {
    const fresh = (): Buffer => Buffer.allocUnsafeSlow(ROOM_BYTES + Math.min(this.chunk, this.size));
    if (this.keep) return fresh();
    if (this.#buffers.length < 2) this.#buffers.push(fresh());
    else this.#buffers.reverse();
    return this.#buffers.at(-1) as Buffer;
  }
}
