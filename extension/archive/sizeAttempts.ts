import { wellFormed } from './json';
import { NODE_BYTES } from './node';
import { oneLine, utf8Bytes } from './text';

/** Completed replies that a line may take. */
const SIZE_TRIES = 5;
/** Nothing longer is ever published, or one line could outgrow a small view for ever. */
export const MAX_LINE_BYTES = 4 * NODE_BYTES;
/** A reply beyond this is not even looked at. */
const MAX_REPLY_UNITS = 65_536;

const CONTROLS = /\p{Cc}/gu;
/** They make text look like other text. */
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;
const FRAME_TAGS = /<(\/?)\s*chat\s*>/gi;

/**
 * A model's reply as a line: without control characters, on one line, and without tags that could close the frame
 * of a compactor's context, where lines stand bare. Empty when nothing usable is left.
 */
export function lineOfReply(reply: string): string {
  if (reply.length > MAX_REPLY_UNITS) return '';
  const plain = wellFormed(reply)
    .replace(CONTROLS, ' ')
    .replace(BIDI_CONTROLS, '')
    .replace(FRAME_TAGS, '[$1chat]');
  const line = oneLine(plain);
  return utf8Bytes(line) <= MAX_LINE_BYTES ? line : '';
}

export type SizeVerdict = 'publish' | 'again' | 'failed';

/**
 * Counts a job's completed replies and keeps the shortest line so far; of equals the first (spec/archive.md 2.5).
 * A line that fits ends the job at once; after the last try the kept one is published oversized.
 */
export class SizeAttempts {
  #best = '';
  #bestBytes = Infinity;
  #attempts = 0;

  constructor(
    private readonly nodeBytes = NODE_BYTES,
    private readonly tries = SIZE_TRIES,
  ) {}

  /** The line to publish; empty while there is none. */
  get line(): string {
    return this.#best;
  }
  get attempts(): number {
    return this.#attempts;
  }
  get oversized(): boolean {
    return this.#bestBytes > this.nodeBytes;
  }

  /** Takes the line of a completed reply, empty when the reply held none. */
  offer(line: string): SizeVerdict {
    this.#attempts++;
    const bytes = utf8Bytes(line);
    if (line !== '' && bytes < this.#bestBytes) {
      this.#best = line;
      this.#bestBytes = bytes;
    }
    if (this.#bestBytes <= this.nodeBytes) return 'publish';
    if (this.#attempts < this.tries) return 'again';
    return this.#best === '' ? 'failed' : 'publish';
  }
}
