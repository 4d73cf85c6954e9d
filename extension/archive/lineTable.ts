import { bytesColumn, numbersColumn, wordsColumn } from './column';
import { levelOf } from './address';
import { shownBytes } from './messageTable';
import type { NodeOp } from './ops';
import { RowIndex } from './rowIndex';
import type { MessagePlace } from './source';
import { utf8Bytes } from './text';

export interface LineColumns {
  readonly sources: Uint32Array;
  readonly ordinals: Uint32Array;
  readonly levels: Uint8Array;
  readonly offsets: Float64Array;
  readonly lengths: Uint32Array;
  readonly ops: Uint32Array;
  readonly bytes: Uint32Array;
  readonly shown: Uint32Array;
  readonly marks: Uint8Array;
}

const OVERSIZED = 1;
const CLIPPED = 2;

/**
 * The lines that models wrote, by identity: the source and record they end in, and their level. Shared by every
 * branch that holds that record.
 */
export class LineTable {
  readonly #sources;
  readonly #ordinals;
  readonly #levels;
  readonly #offsets;
  readonly #lengths;
  readonly #ops;
  readonly #bytes;
  readonly #shown;
  readonly #marks;
  readonly #index: RowIndex;

  constructor(saved?: LineColumns) {
    this.#sources = wordsColumn(saved?.sources);
    this.#ordinals = wordsColumn(saved?.ordinals);
    this.#levels = bytesColumn(saved?.levels);
    this.#offsets = numbersColumn(saved?.offsets);
    this.#lengths = wordsColumn(saved?.lengths);
    this.#ops = wordsColumn(saved?.ops);
    this.#bytes = wordsColumn(saved?.bytes);
    this.#shown = wordsColumn(saved?.shown);
    this.#marks = bytesColumn(saved?.marks);
    this.#index = new RowIndex(
      row => identityHash(this.#sources.at(row), this.#ordinals.at(row), this.#levels.at(row)),
      this.#sources.length,
    );
  }

  get length(): number {
    return this.#sources.length;
  }
  /** The row of the line that ends there; -1 when there is none. */
  find(source: number, ordinal: number, level: number): number {
    return this.#index.find(
      identityHash(source, ordinal, level),
      row =>
        this.#sources.at(row) === source &&
        this.#ordinals.at(row) === ordinal &&
        this.#levels.at(row) === level,
    );
  }
  /** Adds the line of a node that ends in that source. False when it has one already: the first publication wins. */
  add(source: number, op: NodeOp, { ref, op: place }: MessagePlace): boolean {
    const level = levelOf(op.count);
    if (this.find(source, op.end.ordinal, level) >= 0) return false;
    const bytes = utf8Bytes(op.text);
    this.#sources.push(source);
    this.#ordinals.push(op.end.ordinal);
    this.#levels.push(level);
    this.#offsets.push(ref.offset);
    this.#lengths.push(ref.length);
    this.#ops.push(place);
    this.#bytes.push(bytes);
    this.#shown.push(shownBytes(op.text, bytes));
    this.#marks.push((op.oversized ? OVERSIZED : 0) | (op.clipped ? CLIPPED : 0));
    this.#index.add(this.#sources.length - 1);
    return true;
  }
  place(row: number): MessagePlace {
    return {
      ref: { offset: this.#offsets.at(row), length: this.#lengths.at(row) },
      op: this.#ops.at(row),
    };
  }
  textBytes(row: number): number {
    return this.#bytes.at(row);
  }
  shownBytes(row: number): number {
    return this.#shown.at(row);
  }
  isOversized(row: number): boolean {
    return (this.#marks.at(row) & OVERSIZED) !== 0;
  }
  isClipped(row: number): boolean {
    return (this.#marks.at(row) & CLIPPED) !== 0;
  }

  columns(): LineColumns {
    return {
      sources: this.#sources.used(),
      ordinals: this.#ordinals.used(),
      levels: this.#levels.used(),
      offsets: this.#offsets.used(),
      lengths: this.#lengths.used(),
      ops: this.#ops.used(),
      bytes: this.#bytes.used(),
      shown: this.#shown.used(),
      marks: this.#marks.used(),
    };
  }
}

function identityHash(source: number, ordinal: number, level: number): number {
  return Math.imul(source, 0x9e3779b1) ^ Math.imul(ordinal, 0x85ebca6b) ^ (level << 26);
}
