import { levelOf, type Address } from './address';
import { BuiltLevel } from './builtLevel';
import { wordsColumn } from './column';
import { joinedShown, renderedBytes, type Line } from './line';
import type { LineTable } from './lineTable';
import type { MessageTable } from './messageTable';
import { concatBytes, leafMethod, parentMethod } from './node';
import { NO_SOURCE, type SourceTable } from './sourceTable';

/** The tables that every path of a state shares. */
export interface Tables {
  readonly messages: MessageTable;
  readonly sources: SourceTable;
  readonly lines: LineTable;
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
  /** Nobody keeps this path up to date any more: ask `Spines` for another. */
  retired = false;
  readonly #path = wordsColumn();
  /** For each record, the index of its source in the path. */
  readonly #owner = wordsColumn();
  /** Numbers of the records that are too long for a line of their own, in order. */
  readonly #long = wordsColumn();
  readonly #levels: BuiltLevel[] = [];
  /** As `waitingName`; in the order they came to wait. */
  readonly #waiting = new Set<number>();
  #processed = 0;

  constructor(private readonly tables: Tables) {}

  /** The row of the path's last source; `NO_SOURCE` while there is none. */
  get tip(): number {
    return this.#path.length === 0 ? NO_SOURCE : this.#path.at(this.#path.length - 1);
  }
  /** Leaves built from record 0 without a gap. */
  get processed(): number {
    return this.#processed;
  }
  /** Parents whose children are both built and whose own line only a model can write. */
  *waiting(): Iterable<Address> {
    for (const name of this.#waiting) yield waitingAddress(name);
  }
  isWaiting(a: Address): boolean {
    return this.#waiting.has(waitingName(levelOf(a.count), a.start / a.count));
  }

  /** Adds the source after the tip. */
  extend(source: number): void {
    const { messages, sources } = this.tables;
    if (sources.parent(source) !== this.tip) throw new Error('a path grows only at its tip');
    const index = this.#path.length;
    this.#path.push(source);
    const message = sources.message(source);
    const records = messages.records(message);
    for (let i = 0; i < records; i++) {
      if (leafMethod(messages.recordBytes(message, i)) === 'model') this.#long.push(this.#owner.length);
      this.#owner.push(index);
    }
    this.#advance();
  }

  /** The path up to and including `at`, as one that can grow differently. */
  fork(at: number): Spine {
    const other = new Spine(this.tables);
    if (at === NO_SOURCE) return other;
    const { sources } = this.tables;
    const records = sources.through(at);
    const last = this.#owner.at(sources.first(at));
    if (!this.holds(at)) throw new Error('a fork starts on its own path');
    for (let i = 0; i <= last; i++) other.#path.push(this.#path.at(i));
    for (let i = 0; i < records; i++) other.#owner.push(this.#owner.at(i));
    for (let i = 0; i < this.#long.length && this.#long.at(i) < records; i++)
      other.#long.push(this.#long.at(i));
    for (const [level, lines] of this.#levels.entries()) {
      const length = Math.floor(records / 2 ** level);
      if (length > 0) other.#levels.push(lines.prefix(length));
    }
    for (const name of this.#waiting) {
      const { start, count } = waitingAddress(name);
      if (start + count <= records) other.#waiting.add(name);
    }
    other.#processed = Math.min(this.#processed, records);
    return other;
  }

  holds(source: number): boolean {
    return this.sourceOf(this.tables.sources.first(source)) === source;
  }
  /** The row of the source that holds a record; `NO_SOURCE` past the end. */
  sourceOf(record: number): number {
    return record < this.#owner.length ? this.#path.at(this.#owner.at(record)) : NO_SOURCE;
  }
  /** The rows of the sources root first, up to and including `last`. */
  *sources(last: number): Iterable<number> {
    for (let i = 0; i < this.#path.length; i++) {
      const row = this.#path.at(i);
      yield row;
      if (row === last) return;
    }
  }
  /** The first of the long records from `from` on, at most `most` of them. */
  longFrom(from: number, most: number): number[] {
    let low = 0;
    let high = this.#long.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#long.at(middle) < from) low = middle + 1;
      else high = middle;
    }
    return Array.from(this.#long.used().subarray(low, low + most));
  }

  /** The built line of an address; absent when it, or anything below it, is not built. */
  line(a: Address): Line | undefined {
    const lines = this.#levels[levelOf(a.count)];
    const i = a.start / a.count;
    if (!lines?.isBuilt(i)) return undefined;
    const shown = lines.shown(i);
    const row = lines.model(i);
    const model = row >= 0;
    return {
      method: model ? 'model' : a.count === 1 ? 'verbatim' : 'concat',
      textBytes: lines.text(i),
      shownBytes: shown,
      bytes: renderedBytes(a, shown),
      oversized: model && this.tables.lines.isOversized(row),
      clipped: model && this.tables.lines.isClipped(row),
    };
  }
  /** The row of the model's line at an address; -1 when a model wrote none, or it is not built. */
  modelRow(a: Address): number {
    const lines = this.#levels[levelOf(a.count)];
    const i = a.start / a.count;
    return lines?.isBuilt(i) ? lines.model(i) : -1;
  }
  /** How many lines are built over the first `records` records. */
  builtThrough(records: number): number {
    let built = 0;
    for (const [level, lines] of this.#levels.entries())
      built += lines.builtBefore(Math.floor(records / 2 ** level));
    return built;
  }

  /** A model's line of a node that ends in `source` has been added to the shared ones. */
  published(source: number, a: Address): void {
    if (!this.holds(source)) return;
    if (a.count === 1) this.#advance();
    else if (this.isWaiting(a) && this.#tryParent(levelOf(a.count), a.start / a.count))
      this.#climb(levelOf(a.count), a.start / a.count);
  }

  /** Takes every leaf that is built, in order: the first one whose text only a model can write stops it. */
  #advance(): void {
    const { messages, sources, lines } = this.tables;
    for (; this.#processed < this.#owner.length; this.#processed++) {
      const record = this.#processed;
      const source = this.#path.at(this.#owner.at(record));
      const message = sources.message(source);
      const ordinal = record - sources.first(source);
      const bytes = messages.recordBytes(message, ordinal);
      if (leafMethod(bytes) === 'verbatim')
        this.#level(0).build(record, bytes, messages.recordShown(message, ordinal), -1);
      else {
        const row = lines.find(source, ordinal, 0);
        if (row < 0) return;
        this.#level(0).build(record, lines.textBytes(row), lines.shownBytes(row), row);
      }
      this.#climb(0, record);
    }
  }

  /** Goes up from a line that was built, as far as parents follow from it. `i` is its place in its level. */
  #climb(level: number, i: number): void {
    let at = Math.floor(i / 2);
    for (let above = level + 1; this.#tryParent(above, at); above++) at = Math.floor(at / 2);
  }

  /** Builds the parent at that place if both its children are and its text is known. False when it is not built now. */
  #tryParent(level: number, i: number): boolean {
    const below = this.#levels[level - 1];
    if (!below?.isBuilt(2 * i) || !below.isBuilt(2 * i + 1) || this.#levels[level]?.isBuilt(i)) return false;
    const [left, right] = [below.text(2 * i), below.text(2 * i + 1)];
    if (parentMethod(left, right) === 'concat') {
      const shown = joinedShown(below.shown(2 * i), below.shown(2 * i + 1));
      this.#level(level).build(i, concatBytes(left, right), shown, -1);
      return true;
    }
    const last = (i + 1) * 2 ** level - 1;
    const source = this.sourceOf(last);
    const { sources, lines } = this.tables;
    const row = lines.find(source, last - sources.first(source), level);
    if (row < 0) {
      this.#waiting.add(waitingName(level, i));
      return false;
    }
    this.#waiting.delete(waitingName(level, i));
    this.#level(level).build(i, lines.textBytes(row), lines.shownBytes(row), row);
    return true;
  }

  #level(level: number): BuiltLevel {
    for (let l = this.#levels.length; l <= level; l++) this.#levels.push(new BuiltLevel());
    return this.#levels[level] as BuiltLevel;
  }
}

/** A place in the tree as one number: a fresh session of 100,000 records has 50,000 of them waiting. */
function waitingName(level: number, i: number): number {
  return i * 64 + level;
}
function waitingAddress(name: number): Address {
  const level = name % 64;
  const count = 2 ** level;
  return { start: ((name - level) / 64) * count, count };
}
