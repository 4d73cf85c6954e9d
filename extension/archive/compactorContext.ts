import { childrenOf, parentOf, type Address } from './address';
import { Partition } from './partition';
import { EMPTY_VIEW_BYTES } from './view';

/** The built lines of a branch: all that a context is made of. */
export interface Lines {
  /** Leaves built from record 0 without a gap. */
  readonly processed: number;
  line(a: Address): { readonly shownBytes: number; readonly bytes: number } | undefined;
  /** Bytes of a built line as a view renders it. Throws when it is not built. */
  lineBytes(a: Address): number;
}

/**
 * What a summary job is shown of the conversation before its target: a partition of its own, a quarter of the view,
 * that follows the main one (spec/archive.md 3.4). Only addresses are kept; the text is made when a job starts.
 */
export class CompactorContext {
  /** High water of the shared partition, in bytes as if rendered with addresses. */
  readonly #quarter: number;
  #partition = new Partition();
  /** Revision of the main partition this one was last taken from. */
  #seededAt: number | undefined;

  /** `viewBytes` is the archive's view budget, and the most a job's context may ever take. */
  constructor(private readonly viewBytes: number) {
    this.#quarter = Math.floor(viewBytes / 4);
  }

  /** What all jobs share: each is shown what of it is before its target. */
  get shared(): Pick<Partition, 'target'> & Iterable<Address> {
    return this.#partition;
  }

  /** Takes the main partition's parts when that one has merged since, and every leaf built meanwhile. */
  follow(main: Partition, lines: Lines): void {
    if (this.#seededAt !== main.revision) {
      const low = Math.floor(this.#quarter / 2);
      this.#partition = Partition.fromParts(main, a => lines.lineBytes(a), low, 0);
      this.#seededAt = main.revision;
    }
    this.grow(lines);
  }

  /** Appends the leaves that were built since. */
  grow(lines: Lines): void {
    for (let start = this.#partition.total; start < lines.processed; start++) {
      const leaf = { start, count: 1 };
      this.#partition.append(leaf, lines.lineBytes(leaf));
    }
  }

  /**
   * The lines that stand for everything before record `end`, oldest first, to be shown bare, without addresses.
   * Undefined when even the whole view's budget cannot hold them, because parents are still missing. Throws when leaves
   * before `end` are not built.
   */
  before(end: number, lines: Lines): readonly Address[] | undefined {
    if (end > this.#partition.total) throw new RangeError(`records before ${end} are not summarised`);
    const built = (a: Address) => lines.line(a)?.bytes;
    // A pair that came up before its parent was built is not looked at again unless somebody says so.
    for (const a of this.#partition) this.#partition.parentBuilt(parentOf(a));
    this.#partition.evaluate(this.#quarter, built);
    let parts = prefix(this.#partition, end);
    // Splitting the part that crosses the end may have brought back more lines than the quarter holds.
    const size = parts.reduce((sum, a) => sum + lines.lineBytes(a) + 1, EMPTY_VIEW_BYTES - 1);
    if (size > this.#quarter) {
      const projection = Partition.fromParts(parts, a => lines.lineBytes(a), this.#quarter, 0);
      projection.evaluate(Math.max(projection.bytes, 2 * this.#quarter), built);
      parts = [...projection];
    }
    const bytes = parts.reduce((sum, a) => sum + (lines.line(a)?.shownBytes ?? 0) + 1, EMPTY_VIEW_BYTES - 1);
    return parts.length === 0 || bytes <= this.viewBytes ? parts : undefined;
  }
}

/** The parts before `end`; one that crosses it gives way to its children. The partition itself stays as it is. */
function prefix(partition: Iterable<Address>, end: number): Address[] {
  const parts: Address[] = [];
  const take = (a: Address): void => {
    if (a.start >= end) return;
    if (a.start + a.count <= end) parts.push(a);
    else childrenOf(a)?.forEach(take);
  };
  for (const a of partition) {
    if (a.start >= end) break;
    take(a);
  }
  return parts;
}
