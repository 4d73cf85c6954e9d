import { formatAddress, type Address } from './address';
import { ROOT_CHAIN, type Chain } from './ids';
import type { Line } from './line';
import type { StoredMessage } from './message';
import type { NodeEnd } from './ops';
import { recordsThrough, type RecordMeta, type Source } from './source';
import type { Spine } from './spine';

/** Reads what is too long to keep in memory. */
export interface Originals {
  /** The message of a source as it was stored. */
  message(source: Source): Promise<StoredMessage>;
  /** The raw text of a source's record. */
  raw(source: Source, ordinal: number): Promise<string>;
}

/**
 * The records of one ancestry, from the root to its last source, and the lines built over them. Never changes in
 * what it covers: a longer ancestry is another branch. Lines appear in it as they are built.
 */
export class Branch {
  /** How many records it has. */
  readonly records: number;

  constructor(
    private readonly spine: Spine,
    /** The last source; absent on the empty branch. */
    readonly tip: Source | undefined,
    private readonly originals: Originals,
  ) {
    this.records = recordsThrough(tip);
  }

  /** Names this branch. */
  get chain(): Chain {
    return this.tip?.chain ?? ROOT_CHAIN;
  }
  /** Leaves built from record 0 without a gap, at most `records`. */
  get processed(): number {
    return Math.min(this.spine.processed, this.records);
  }
  /** The built line of an address; absent when it is not built or reaches past the end. */
  line(a: Address): Line | undefined {
    return a.start + a.count <= this.records ? this.spine.line(a) : undefined;
  }
  /** Bytes of a built line as a view renders it. Throws when it is not built. */
  lineBytes(a: Address): number {
    const line = this.line(a);
    if (!line) throw new Error(`line ${formatAddress(a)} is not built`);
    return line.bytes;
  }
  /** Parents that wait for a model, children built. */
  *waiting(): Iterable<Address> {
    for (const a of this.spine.waiting) if (a.start + a.count <= this.records) yield a;
  }
  /** Lines over these records that are built, of whatever size. */
  get built(): number {
    return this.spine.builtThrough(this.records);
  }
  /** Lines of the whole tree over these records that are not built yet. */
  get missing(): number {
    let all = 0;
    for (let n = this.records; n > 0; n = Math.floor(n / 2)) all += n;
    return all - this.built;
  }
  /** A node's identity. Throws past the end. */
  endOf(a: Address): NodeEnd {
    return this.spine.endOf(a);
  }
  /** Whether that source lies on this branch. */
  holds(source: Source): boolean {
    return source.first < this.records && this.spine.holds(source);
  }
  /** Root first. */
  sources(): Iterable<Source> {
    return this.tip ? this.spine.sources(this.tip) : [];
  }
  /** The source of a record. Throws a `RangeError` past the end. */
  sourceOf(record: number): Source {
    const source = record < this.records ? this.spine.sourceOf(record) : undefined;
    if (!source) throw new RangeError(`this branch has ${this.records} records, no record ${record}`);
    return source;
  }
  /** What is kept in memory of a record. Throws a `RangeError` past the end. */
  record(record: number): RecordMeta {
    const source = this.sourceOf(record);
    return source.records[record - source.first] as RecordMeta;
  }
  /** The whole raw text of a record, from memory when it is short, else from the journal. */
  async raw(record: number): Promise<string> {
    const short = this.record(record).raw;
    if (short !== undefined) return short;
    const source = this.sourceOf(record);
    return this.originals.raw(source, record - source.first);
  }
  /** The stored message that a record comes from. */
  message(record: number): Promise<StoredMessage> {
    return this.originals.message(this.sourceOf(record));
  }
}
