import { bytesColumn, HexColumn, numbersColumn, wordsColumn } from './column';
import type { SourceKey } from './ids';
import { leafMethod } from './node';
import { recordsOf } from './normalise';
import type { StoredMessage } from './message';
import { RECORD_KINDS, rawText } from './record';
import type { MessagePlace, RecordMeta } from './source';
import { oneLine, utf8Bytes } from './text';

/** What a checkpoint keeps of the table. */
export interface MessageColumns {
  readonly keys: Uint8Array;
  readonly offsets: Float64Array;
  readonly lengths: Uint32Array;
  readonly ops: Uint32Array;
  readonly firsts: Uint32Array;
  readonly kinds: Uint8Array;
  readonly times: Float64Array;
  readonly bytes: Uint32Array;
  readonly shown: Uint32Array;
}

/** The messages of a journal, bound or not: where each stands, its key, and the sizes of its records. No texts. */
export class MessageTable {
  readonly #keys: HexColumn;
  readonly #offsets;
  readonly #lengths;
  readonly #ops;
  /** Row of the first record; the next message's is the end. */
  readonly #firsts;
  readonly #kinds;
  readonly #times;
  readonly #bytes;
  readonly #shown;

  constructor(saved?: MessageColumns) {
    this.#keys = new HexColumn(32, saved?.keys);
    this.#offsets = numbersColumn(saved?.offsets);
    this.#lengths = wordsColumn(saved?.lengths);
    this.#ops = wordsColumn(saved?.ops);
    this.#firsts = wordsColumn(saved?.firsts);
    this.#kinds = bytesColumn(saved?.kinds);
    this.#times = numbersColumn(saved?.times);
    this.#bytes = wordsColumn(saved?.bytes);
    this.#shown = wordsColumn(saved?.shown);
  }

  get length(): number {
    return this.#keys.length;
  }
  /** Adds a message; gives its row. */
  add(message: StoredMessage, key: SourceKey, { ref, op }: MessagePlace): number {
    this.#keys.push(key);
    this.#offsets.push(ref.offset);
    this.#lengths.push(ref.length);
    this.#ops.push(op);
    this.#firsts.push(this.#kinds.length);
    for (const record of recordsOf(message)) {
      const raw = rawText(record);
      const bytes = utf8Bytes(raw);
      this.#kinds.push(RECORD_KINDS.indexOf(record.kind));
      this.#times.push(record.timestamp);
      this.#bytes.push(bytes);
      this.#shown.push(leafMethod(bytes) === 'model' ? 0 : shownBytes(raw, bytes));
    }
    return this.#keys.length - 1;
  }
  key(row: number): SourceKey {
    return this.#keys.at(row) as SourceKey;
  }
  place(row: number): MessagePlace {
    return {
      ref: { offset: this.#offsets.at(row), length: this.#lengths.at(row) },
      op: this.#ops.at(row),
    };
  }
  /** How many records the message has. */
  records(row: number): number {
    const end = row + 1 < this.#firsts.length ? this.#firsts.at(row + 1) : this.#kinds.length;
    return end - this.#firsts.at(row);
  }
  record(row: number, ordinal: number): RecordMeta {
    const at = this.#firsts.at(row) + ordinal;
    return {
      kind: RECORD_KINDS[this.#kinds.at(at)] ?? 'note',
      timestamp: this.#times.at(at),
      bytes: this.#bytes.at(at),
    };
  }
  /** Bytes of the record's raw text. */
  recordBytes(row: number, ordinal: number): number {
    return this.#bytes.at(this.#firsts.at(row) + ordinal);
  }
  /** Bytes of the raw text on one line; known only where it is at most NODE_BYTES long. */
  recordShown(row: number, ordinal: number): number {
    return this.#shown.at(this.#firsts.at(row) + ordinal);
  }

  columns(): MessageColumns {
    return {
      keys: this.#keys.used(),
      offsets: this.#offsets.used(),
      lengths: this.#lengths.used(),
      ops: this.#ops.used(),
      firsts: this.#firsts.used(),
      kinds: this.#kinds.used(),
      times: this.#times.used(),
      bytes: this.#bytes.used(),
      shown: this.#shown.used(),
    };
  }
}

/** Anything that `oneLine` would change. */
const NOT_ONE_LINE = /\s\s|[^\S ]|^ | $/;

/** Bytes of a text as a view shows it, on one line; `bytes` is its length as it is. */
export function shownBytes(text: string, bytes: number): number {
  return NOT_ONE_LINE.test(text) ? utf8Bytes(oneLine(text)) : bytes;
}
