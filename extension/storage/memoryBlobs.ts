import { sha256Hex } from '../archive/canonical';
import type { BlobRead, Blobs } from '../archive/ports';

/** The blobs of a session that Pi keeps no file for (`--no-session`): nothing of them reaches a disk. */
export class MemoryBlobs implements Blobs {
  readonly #blobs = new Map<string, Uint8Array>();

  put(bytes: Uint8Array): Promise<string> {
    const sha256 = sha256Hex(bytes);
    this.#blobs.set(sha256, bytes);
    return Promise.resolve(sha256);
  }
  read(sha256: string): Promise<BlobRead> {
    const bytes = this.#blobs.get(sha256);
    return Promise.resolve(bytes ? { state: 'whole', bytes } : { state: 'missing' });
  }
}
