import { hashBytes, HexColumn, TextColumn, wordOf, wordsColumn } from './column';
import { ROOT_CHAIN, type Chain, type EntryId } from './ids';
import type { MessageTable } from './messageTable';
import { RowIndex } from './rowIndex';
import type { RecordMeta, Source } from './source';

export interface SourceColumns {
  readonly chains: Uint8Array;
  readonly parents: Uint32Array;
  readonly messages: Uint32Array;
  readonly entryEnds: Uint32Array;
  readonly entries: Uint8Array;
}

/** The row of no source: the parent of a first one, and the tip of the empty branch. */
export const NO_SOURCE = -1;

/**
 * The trie of sources as columns, in the order they were bound, so a parent always comes before its children. Row
 * numbers name sources inside one state; `at` makes an object of one for whoever is outside.
 */
export class SourceTable {
  readonly #chains: HexColumn;
  /** Row + 1; 0 at the root. */
  readonly #parents;
  readonly #messages;
  readonly #entries: TextColumn;
  /** Number of each source's first record. A function of the rest, as is `#tips`. */
  readonly #firsts = wordsColumn();
  readonly #index: RowIndex;
  /** 1 for a source with children. */
  #inner = new Uint8Array(64);
  #tips = 0;
  /** The one that was added last. */
  #last: { readonly chain: Chain; readonly row: number } = { chain: ROOT_CHAIN, row: NO_SOURCE };

  constructor(
    private readonly all: MessageTable,
    saved?: SourceColumns,
  ) {
    this.#chains = new HexColumn(16, saved?.chains);
    this.#parents = wordsColumn(saved?.parents);
    this.#messages = wordsColumn(saved?.messages);
    this.#entries = new TextColumn(saved?.entryEnds, saved?.entries);
    this.#index = new RowIndex(row => this.#chains.word(row), this.#chains.length);
    if (saved && saved.parents.length > this.#inner.length)
      this.#inner = new Uint8Array(saved.parents.length);
    for (let row = 0; row < this.#chains.length; row++) this.#place(row);
  }

  get length(): number {
    return this.#chains.length;
  }
  /** How many sources have none after them. */
  get tips(): number {
    return this.#tips;
  }
  /** The row of a chain; `NO_SOURCE` when there is none. */
  find(chain: Chain): number {
    // Bindings follow each other.
    if (chain === this.#last.chain) return this.#last.row;
    const bytes = hashBytes(chain, 16);
    if (!bytes) return NO_SOURCE;
    return this.#index.find(wordOf(bytes), row => this.#chains.is(row, bytes));
  }
  add(chain: Chain, parent: number, message: number, entry: EntryId): void {
    this.#chains.push(chain);
    this.#parents.push(parent + 1);
    this.#messages.push(message);
    this.#entries.push(entry);
    this.#last = { chain, row: this.#chains.length - 1 };
    this.#place(this.#last.row);
    this.#index.add(this.#last.row);
  }

  parent(row: number): number {
    return this.#parents.at(row) - 1;
  }
  message(row: number): number {
    return this.#messages.at(row);
  }
  first(row: number): number {
    return this.#firsts.at(row);
  }
  records(row: number): number {
    return this.all.records(this.#messages.at(row));
  }
  /** How many records an ancestry has that ends with this source. */
  through(row: number): number {
    return row === NO_SOURCE ? 0 : this.#firsts.at(row) + this.records(row);
  }
  chain(row: number): Chain {
    return row === NO_SOURCE ? ROOT_CHAIN : (this.#chains.at(row) as Chain);
  }
  record(row: number, ordinal: number): RecordMeta {
    return this.all.record(this.#messages.at(row), ordinal);
  }
  at(row: number): Source {
    const message = this.#messages.at(row);
    const parent = this.parent(row);
    return {
      row,
      chain: this.chain(row),
      ...(parent !== NO_SOURCE && { parent: this.chain(parent) }),
      key: this.all.key(message),
      entry: this.#entries.at(row) as EntryId,
      first: this.#firsts.at(row),
      count: this.all.records(message),
      place: this.all.place(message),
    };
  }
  /** The rows of sources with none after them, in the order they were bound. */
  *tipRows(): Iterable<number> {
    for (let row = 0; row < this.length; row++) if (this.#inner[row] === 0) yield row;
  }

  columns(): SourceColumns {
    return {
      chains: this.#chains.used(),
      parents: this.#parents.used(),
      messages: this.#messages.used(),
      entryEnds: this.#entries.usedEnds(),
      entries: this.#entries.usedBytes(),
    };
  }

  #place(row: number): void {
    const parent = this.parent(row);
    this.#firsts.push(this.through(parent));
    if (row >= this.#inner.length) {
      const next = new Uint8Array(Math.ceil(this.#inner.length * 1.5));
      next.set(this.#inner);
      this.#inner = next;
    }
    if (parent === NO_SOURCE || this.#inner[parent] !== 0) this.#tips++;
    else this.#inner[parent] = 1;
  }
}
