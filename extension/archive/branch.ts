import { childrenOf, formatAddress, type Address } from './address';
import type { Chain } from './ids';
import type { Line, ModelLine } from './line';
import type { StoredMessage } from './message';
import { concatText } from './node';
import type { NodeEnd } from './ops';
import type { Originals } from './originals';
import { NO_SOURCE } from './sourceTable';
import type { RecordMeta, Source } from './source';
import type { Spine, Tables } from './spine';
import type { Spines } from './spines';

/**
 * The records of one ancestry, from the root to its last source, and the lines built over them. Never changes in
 * what it covers: a longer ancestry is another branch. Lines appear in it as they are built.
 */
export class Branch {
  /** How many records it has. */
  readonly records: number;
  /** Made when it is first needed: naming a branch and counting its records takes none. */
  #spine: Spine | undefined;

  constructor(
    private readonly spines: Spines,
    /** The row of the last source; `NO_SOURCE` on the empty branch. */
    private readonly row: number,
    private readonly tables: Tables,
    private readonly originals: Originals,
  ) {
    this.records = tables.sources.through(row);
  }

  /** Names this branch. */
  get chain(): Chain {
    return this.tables.sources.chain(this.row);
  }
  /** The last source; absent on the empty branch. */
  get tip(): Source | undefined {
    return this.row === NO_SOURCE ? undefined : this.tables.sources.at(this.row);
  }
  /** Leaves built from record 0 without a gap, at most `records`. */
  get processed(): number {
    return Math.min(this.#path.processed, this.records);
  }
  /** Lines that are built. */
  get built(): number {
    return this.#path.builtThrough(this.records);
  }
  /** Lines of the whole tree over these records that are not built yet. */
  get missing(): number {
    let all = 0;
    for (let n = this.records; n > 0; n = Math.floor(n / 2)) all += n;
    return all - this.built;
  }
  /** What is kept of the line of an address; absent when it is not built or reaches past the end. */
  line(a: Address): Line | undefined {
    return a.start + a.count <= this.records ? this.#path.line(a) : undefined;
  }
  /** Bytes of a built line as a view renders it. Throws when it is not built. */
  lineBytes(a: Address): number {
    const line = this.line(a);
    if (!line) throw new Error(`line ${formatAddress(a)} is not built`);
    return line.bytes;
  }
  /** The text of a built line. Rejects when it is not built, or when the journal no longer holds it. */
  async lineText(a: Address): Promise<string> {
    const line = this.line(a);
    if (!line) throw new Error(`line ${formatAddress(a)} is not built`);
    switch (line.method) {
      case 'model':
        return this.originals.modelText(this.#path.modelRow(a));
      case 'verbatim':
        return this.raw(a.start);
      case 'concat': {
        const [left, right] = childrenOf(a) as [Address, Address];
        return concatText(await this.lineText(left), await this.lineText(right));
      }
    }
  }
  /** What a model wrote there, and how it came about; undefined where no model wrote the line. */
  async modelLine(a: Address): Promise<ModelLine | undefined> {
    const row = this.line(a) ? this.#path.modelRow(a) : -1;
    return row < 0 ? undefined : this.originals.modelLine(row);
  }
  /** Parents on this branch whose children are both built and whose own line only a model can write. */
  *waiting(): Iterable<Address> {
    for (const a of this.#path.waiting()) if (a.start + a.count <= this.records) yield a;
  }
  isWaiting(a: Address): boolean {
    return a.start + a.count <= this.records && this.#path.isWaiting(a);
  }
  /** The first `most` records from `from` on whose own line only a model can write. */
  longFrom(from: number, most: number): number[] {
    return this.#path.longFrom(from, most).filter(record => record < this.records);
  }
  /** A node's identity: where its last record stands. Throws past the end. */
  endOf(a: Address): NodeEnd {
    const last = a.start + a.count - 1;
    const row = this.#rowOf(last);
    return { chain: this.tables.sources.chain(row), ordinal: last - this.tables.sources.first(row) };
  }
  /** Whether that source lies on this branch. */
  holds(source: Source): boolean {
    return source.first < this.records && this.#path.holds(source.row);
  }
  /** Root first. */
  *sources(): Iterable<Source> {
    if (this.row === NO_SOURCE) return;
    for (const row of this.#path.sources(this.row)) yield this.tables.sources.at(row);
  }
  /** The source of a record. Throws a `RangeError` past the end. */
  sourceOf(record: number): Source {
    return this.tables.sources.at(this.#rowOf(record));
  }
  /** What is kept in memory of a record. Throws a `RangeError` past the end. */
  record(record: number): RecordMeta {
    const row = this.#rowOf(record);
    return this.tables.sources.record(row, record - this.tables.sources.first(row));
  }
  /** The whole raw text of a record. */
  raw(record: number): Promise<string> {
    const row = this.#rowOf(record);
    const { sources } = this.tables;
    return this.originals.raw(sources.message(row), record - sources.first(row));
  }
  /** The stored message that a record comes from. */
  message(record: number): Promise<StoredMessage> {
    return this.originals.message(this.tables.sources.message(this.#rowOf(record)));
  }

  get #path(): Spine {
    // Forgotten meanwhile, for other branches: it grows no more.
    if (!this.#spine || this.#spine.retired) this.#spine = this.spines.through(this.row);
    return this.#spine;
  }

  #rowOf(record: number): number {
    const inside = record >= 0 && record < this.records;
    // The newest is asked for most, and by those who need no path.
    if (inside && record >= this.tables.sources.first(this.row)) return this.row;
    const row = inside ? this.#path.sourceOf(record) : NO_SOURCE;
    if (row === NO_SOURCE)
      throw new RangeError(`this branch has ${this.records} records, no record ${record}`);
    return row;
  }
}
