import { sourceKey } from './canonical';
import type { ModelLine } from './line';
import type { LineTable } from './lineTable';
import type { StoredMessage } from './message';
import type { MessageTable } from './messageTable';
import { recordsOf } from './normalise';
import type { Op } from './ops';
import { parseCommit } from './parseCommit';
import type { FrameRef } from './ports';
import { RecentItems } from './recentItems';
import { rawText } from './record';
import type { MessagePlace } from './source';

/** Journal lines kept parsed, by their length: a binding of many messages is read once for all of them. */
const LINE_BYTES = 1024 * 1024;
/** Short texts kept, enough for a few views. */
const TEXT_BYTES = 1024 * 1024;
/** Longer texts are read again: one of them would push out a whole view. */
const LONGEST_TEXT = 4096;

/** Reads from the journal what a state keeps only the place and the size of. */
export class Originals {
  readonly #lines = new RecentItems<number, Promise<readonly Op[]>>(LINE_BYTES);
  readonly #texts = new RecentItems<string, string>(TEXT_BYTES);

  /** `read` gives the JSON of a journal line. */
  constructor(
    private readonly read: (ref: FrameRef) => Promise<string>,
    private readonly messages: MessageTable,
    private readonly lines: LineTable,
  ) {}

  /** The message of that row as it was stored. Throws when the journal no longer holds what its key says. */
  async message(row: number): Promise<StoredMessage> {
    const place = this.messages.place(row);
    const stored = await this.#op(place);
    const message = stored?.op === 'message' || stored?.op === 'bind' ? stored.message : undefined;
    // The bytes were right when the journal was opened; they are what the key says, or they are damage.
    if (!message || sourceKey(message) !== this.messages.key(row))
      throw new Error(`the journal line at byte ${place.ref.offset} does not hold the message it held`);
    return message;
  }

  /** The raw text of a message's record. */
  async raw(row: number, ordinal: number): Promise<string> {
    const name = `${row}/${ordinal}`;
    const known = this.#texts.get(name);
    if (known !== undefined) return known;
    const record = recordsOf(await this.message(row))[ordinal];
    if (!record) throw new RangeError(`a message has no record ${ordinal}`);
    return this.#keep(name, rawText(record));
  }

  /** What a model wrote, with all that is known of how. Throws when the journal no longer holds it. */
  async modelLine(row: number): Promise<ModelLine> {
    const place = this.lines.place(row);
    const op = await this.#op(place);
    if (op?.op !== 'node' || Buffer.byteLength(op.text) !== this.lines.textBytes(row))
      throw new Error(`the journal line at byte ${place.ref.offset} does not hold the summary it held`);
    const { text, oversized, clipped, by } = op;
    return { text, oversized, clipped, by };
  }

  /** The text that a model wrote. */
  async modelText(row: number): Promise<string> {
    const name = `m${row}`;
    return this.#texts.get(name) ?? this.#keep(name, (await this.modelLine(row)).text);
  }

  #keep(name: string, text: string): string {
    if (text.length <= LONGEST_TEXT) this.#texts.set(name, text, text.length);
    return text;
  }

  async #op({ ref, op }: MessagePlace): Promise<Op | undefined> {
    let line = this.#lines.get(ref.offset);
    if (!line) {
      line = this.#read(ref);
      this.#lines.set(ref.offset, line, ref.length);
      // What failed once may work the next time.
      line.catch(() => this.#lines.delete(ref.offset));
    }
    return (await line)[op];
  }

  async #read(ref: FrameRef): Promise<readonly Op[]> {
    const commit = parseCommit(await this.read(ref));
    if (!commit) throw new Error(`the journal line at byte ${ref.offset} is not what it was`);
    return commit.ops;
  }
}
