import { hash } from 'node:crypto';
import { bytesColumn, hashBytes, HexColumn, wordOf, wordsColumn } from './column';
import { captureId, type Capture } from './ids';
import { RowIndex } from './rowIndex';

/** Names are kept as the first 16 bytes of their sha256: they are long, foreign and never shown. */
const WIDTH = 16;

export interface CaptureColumns {
  readonly names: Uint8Array;
  readonly messages: Uint32Array;
  readonly bound: Uint8Array;
}

/** Which messages were captured, by where they stood in the live session, and which of those have a place in a chain. */
export class CaptureTable {
  readonly #names: HexColumn;
  readonly #messages;
  readonly #bound;
  /** Made when a capture is first looked for: whoever only reads an archive never does. */
  #index: RowIndex | undefined;
  #orphans = 0;

  constructor(saved?: CaptureColumns) {
    this.#names = new HexColumn(WIDTH, saved?.names);
    this.#messages = wordsColumn(saved?.messages);
    this.#bound = bytesColumn(saved?.bound);
    for (const mark of this.#bound.used()) if (mark === 0) this.#orphans++;
  }

  /** Captured messages that no chain holds. */
  get orphans(): number {
    return this.#orphans;
  }
  get length(): number {
    return this.#names.length;
  }
  /** Its row; -1 when it is not known. */
  find(capture: Capture): number {
    return this.#find(nameOf(capture));
  }
  message(row: number): number {
    return this.#messages.at(row);
  }
  isBound(row: number): boolean {
    return this.#bound.at(row) !== 0;
  }
  /** Adds a capture of that message unless it is known. */
  add(capture: Capture, message: () => number, bound: boolean): void {
    const name = nameOf(capture);
    if (this.#find(name) >= 0) return;
    this.#messages.push(message());
    this.#names.push(name);
    this.#bound.push(bound ? 1 : 0);
    this.#index?.add(this.#names.length - 1);
    if (!bound) this.#orphans++;
  }
  bind(row: number): void {
    if (this.isBound(row)) return;
    this.#bound.values[row] = 1;
    this.#orphans--;
  }

  columns(): CaptureColumns {
    // Marks change where they stand, so a copy is given away.
    return {
      names: this.#names.used(),
      messages: this.#messages.used(),
      bound: this.#bound.used().slice(),
    };
  }

  #find(name: string): number {
    const bytes = hashBytes(name, WIDTH);
    if (!bytes) throw new Error(`${name} is no name of a capture`);
    this.#index ??= new RowIndex(row => this.#names.word(row), this.#names.length);
    return this.#index.find(wordOf(bytes), row => this.#names.is(row, bytes));
  }
}

function nameOf(capture: Capture): string {
  return hash('sha256', captureId(capture), 'hex').slice(0, 2 * WIDTH);
}
