import { formatAddress, levelOf, parentOf, type Address } from './address';
import { impliedLine, modelLine, type Line, type ModelLine } from './line';
import { concatText, parentMethod } from './node';
import type { NodeEnd } from './ops';
import { recordsThrough, type Source } from './source';

/** The lines that models wrote, by identity: shared by every branch that holds their last record. */
export class ModelLines {
  readonly #lines = new Map<string, ModelLine>();

  get size(): number {
    return this.#lines.size;
  }
  get(end: NodeEnd, count: number): ModelLine | undefined {
    return this.#lines.get(identity(end, count));
  }
  /** False when that node has a line already: the first publication wins. */
  add(end: NodeEnd, count: number, line: ModelLine): boolean {
    const id = identity(end, count);
    if (this.#lines.has(id)) return false;
    this.#lines.set(id, line);
    return true;
  }
}

function identity({ chain, ordinal }: NodeEnd, count: number): string {
  return `${chain}/${ordinal}/${count}`;
}

/**
 * One path through the trie of sources, from the root to a tip, as dense arrays: its records by number and its built
 * lines by level. It only ever grows at the tip, so a branch that ends in the middle of it is a prefix of these
 * arrays and costs nothing. Extending takes time for what is new, forking for the shared prefix, once.
 *
 * A line counts as built when everything below it is built (spec/archive.md 2.3): leaves in order without a gap,
 * parents after both children.
 */
export class Spine {
  readonly #sources: Source[] = [];
  /** For each record, the index of its source. */
  readonly #owner: number[] = [];
  readonly #levels: (Line | undefined)[][] = [[]];
  readonly #waiting = new Map<string, Address>();
  #processed = 0;
  #built = 0;

  constructor(private readonly modelLines: ModelLines) {}

  /** The chain's last source; absent while there is none. */
  get tip(): Source | undefined {
    return this.#sources.at(-1);
  }
  /** Leaves built from record 0 without a gap. */
  get processed(): number {
    return this.#processed;
  }
  /** Parents whose children are both built and whose own line only a model can write. */
  get waiting(): Iterable<Address> {
    return this.#waiting.values();
  }

  /** Adds the source after the tip. */
  extend(source: Source): void {
    if (source.parent !== this.tip) throw new Error('a path grows only at its tip');
    const index = this.#sources.push(source) - 1;
    for (let i = 0; i < source.records.length; i++) this.#owner.push(index);
    this.#advance();
  }

  /** The path up to and including `at`, as one that can grow differently. */
  fork(at: Source | undefined): Spine {
    const other = new Spine(this.modelLines);
    if (!at) return other;
    const records = recordsThrough(at);
    const last = this.#owner[at.first];
    if (last === undefined || this.#sources[last] !== at) throw new Error('a fork starts on its own path');
    for (let i = 0; i <= last; i++) other.#sources.push(this.#sources[i] as Source);
    for (let i = 0; i < records; i++) other.#owner.push(this.#owner[i] as number);
    other.#levels.length = 0;
    for (let level = 0; level < this.#levels.length; level++) {
      const lines = this.#levels[level]?.slice(0, Math.floor(records / 2 ** level));
      if (lines && (lines.length > 0 || level === 0)) other.#levels.push(lines);
    }
    for (const [id, a] of this.#waiting) if (a.start + a.count <= records) other.#waiting.set(id, a);
    other.#processed = Math.min(this.#processed, records);
    other.#built = this.builtThrough(records);
    return other;
  }

  holds(source: Source): boolean {
    return this.sourceOf(source.first) === source;
  }
  /** The source that holds a record; absent past the end. */
  sourceOf(record: number): Source | undefined {
    return this.#sources[this.#owner[record] ?? -1];
  }
  /** The sources root first, up to and including `last`. */
  *sources(last: Source): Iterable<Source> {
    for (const source of this.#sources) {
      yield source;
      if (source === last) return;
    }
  }
  /** The built line of an address; absent when it, or anything below it, is not built. */
  line(a: Address): Line | undefined {
    return this.#levels[levelOf(a.count)]?.[a.start / a.count];
  }
  /** A node's identity: where its last record stands. */
  endOf(a: Address): NodeEnd {
    const last = a.start + a.count - 1;
    const source = this.sourceOf(last);
    if (!source) throw new RangeError(`no record ${last} on this branch`);
    return { chain: source.chain, ordinal: last - source.first };
  }

  /** How many lines are built over the first `records` records; counted only when that is not all of them. */
  builtThrough(records: number): number {
    if (records === this.#owner.length) return this.#built;
    let built = 0;
    this.#levels.forEach((lines, level) => {
      const end = Math.floor(records / 2 ** level);
      for (let i = 0; i < end; i++) if (lines[i]) built++;
    });
    return built;
  }

  /** A model's line of a node that ends in `source` has been added to the shared ones. */
  published(source: Source, a: Address): void {
    if (!this.holds(source)) return;
    if (a.count === 1) this.#advance();
    else if (this.#waiting.has(formatAddress(a))) this.#tryParent(a);
  }

  /** Takes every leaf that is built, in order: the first one whose text only a model can write stops it. */
  #advance(): void {
    for (; this.#processed < this.#owner.length; this.#processed++) {
      const a: Address = { start: this.#processed, count: 1 };
      const source = this.sourceOf(a.start) as Source;
      const raw = source.records[a.start - source.first]?.raw;
      const model = raw === undefined ? this.modelLines.get(this.endOf(a), 1) : undefined;
      if (raw !== undefined) this.#add(a, impliedLine(a, 'verbatim', raw));
      else if (model) this.#add(a, modelLine(a, model));
      else return;
    }
  }

  /** Keeps a line and goes up as far as parents follow from it. */
  #add(a: Address, line: Line): void {
    const level = levelOf(a.count);
    const lines = (this.#levels[level] ??= []);
    lines[a.start / a.count] = line;
    this.#built++;
    this.#tryParent(parentOf(a));
  }

  #tryParent(a: Address): void {
    const half = a.count / 2;
    const left = this.line({ start: a.start, count: half });
    const right = this.line({ start: a.start + half, count: half });
    if (!left || !right || this.line(a)) return;
    if (parentMethod(left.text, right.text) === 'concat') {
      this.#add(a, impliedLine(a, 'concat', concatText(left.text, right.text)));
      return;
    }
    const model = this.modelLines.get(this.endOf(a), a.count);
    if (model) {
      this.#waiting.delete(formatAddress(a));
      this.#add(a, modelLine(a, model));
    } else this.#waiting.set(formatAddress(a), a);
  }
}
