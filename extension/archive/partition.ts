import { formatAddress, isAddress, levelOf, parentOf, tiles, type Address } from './address';
import { Heap } from './heap';
import type { PartitionRuns } from './ops';
import { EMPTY_VIEW_BYTES } from './view';

/** A part in the linked list. `address` is the object the caller gave, so nothing here copies a long history. */
interface Part {
  readonly address: Address;
  /** Bytes of its line. */
  readonly bytes: number;
  older: Part | undefined;
  newer: Part | undefined;
  /** Replaced by a parent. Heaps drop such parts when they come up. */
  merged: boolean;
  /** Waits in the heap of its level as the left half of a pair. */
  queued: boolean;
  /** Line bytes of the pair's built parent once known: nodes are immutable, so they stay. */
  parentBytes: number | undefined;
}

interface Candidate {
  readonly left: Part;
  readonly right: Part;
  readonly bytes: number;
}

/** Far more lines than a view of any model holds. */
const MAX_LINES = 2 ** 24;

/** The line bytes of a built node; undefined when it is not built. */
export type BuiltLine = (a: Address) => number | undefined;

/**
 * A list of nodes that covers every record so far once: what a view shows. Records are appended; `evaluate` replaces
 * neighbours by their built parent when the view outgrows its budget (spec/archive.md 4.2, 4.3).
 *
 * Of the pairs of one level the oldest is always the most due, since all have the same count. So a heap a level,
 * ordered by start, holds the pairs, only the heads are compared, and a merge costs the logarithm of the number of
 * pairs, however long the history is. A pair whose parent is not built leaves its heap when it comes up;
 * `parentBuilt` brings it back.
 */
export class Partition implements Iterable<Address> {
  /** Bytes that an unfinished batch still wants to reach; null between batches. */
  target: number | null = null;
  /** Grows by one with each evaluation that merged something. */
  revision = 0;

  #oldest: Part | undefined;
  #newest: Part | undefined;
  #length = 0;
  #total = 0;
  #lineBytes = 0;
  /** Finds the pair below a parent that was built after the pair came together. */
  readonly #byStart = new Map<number, Part>();
  /** One a level of the tree; the items are left halves. */
  readonly #pairs: Heap<Part>[] = [];

  /**
   * A partition as it was saved. `lineBytes` gives the bytes of each part's line. Throws a RangeError when the
   * parts do not tile from record 0.
   */
  static fromParts(
    parts: Iterable<Address>,
    lineBytes: (a: Address) => number,
    target: number | null,
    revision: number,
  ): Partition {
    const partition = new Partition();
    for (const a of parts) partition.append(a, lineBytes(a));
    partition.target = target;
    partition.revision = revision;
    return partition;
  }

  /** Bytes of the rendered view, wrapper and separators included. */
  get bytes(): number {
    return EMPTY_VIEW_BYTES + this.#lineBytes + Math.max(0, this.#length - 1);
  }

  /** Lines. */
  get length(): number {
    return this.#length;
  }

  /** Records covered. */
  get total(): number {
    return this.#total;
  }

  /** Oldest first. */
  *[Symbol.iterator](): IterableIterator<Address> {
    for (let part = this.#oldest; part; part = part.newer) yield part.address;
  }

  /** Adds the line of the next records, one as a rule. Throws a RangeError when they are not the next. */
  append(a: Address, lineBytes: number): void {
    if (a.start !== this.#total || !isAddress(a.start, a.count)) {
      throw new RangeError(`${formatAddress(a)} cannot follow ${this.#total} records`);
    }
    const part = newPart(a, lineBytes);
    part.older = this.#newest;
    if (this.#newest) this.#newest.newer = part;
    else this.#oldest = part;
    this.#newest = part;
    this.#total += a.count;
    this.#length += 1;
    this.#lineBytes += lineBytes;
    this.#byStart.set(a.start, part);
    this.#queuePair(part);
  }

  /** To be called when a node of two or more records is built: its halves may wait here for it. */
  parentBuilt(a: Address): void {
    const left = this.#byStart.get(a.start);
    if (left?.address.count === a.count / 2) this.#queuePair(left);
  }

  /**
   * One turn of the sawtooth (spec/archive.md 4.3) with a budget of `high` bytes: more than `high` starts a batch
   * that aims at half of it; a batch merges the most due pair until its target is met or no parent is left, and
   * is remembered while unmet. A lower budget lowers the remembered target, a higher one never raises it. Returns
   * the parents that replaced their halves, in the order of the merges.
   */
  evaluate(high: number, parent: BuiltLine): { readonly merges: Address[] } {
    const low = Math.floor(high / 2);
    if (this.bytes > high) this.target = Math.min(this.target ?? low, low);
    const merges: Address[] = [];
    if (this.target === null) return { merges };
    while (this.bytes > this.target) {
      const due = this.#mostDue(parent);
      if (!due) break;
      merges.push(this.#merge(due));
    }
    if (this.bytes <= this.target) this.target = null;
    if (merges.length > 0) this.revision += 1;
    return { merges };
  }

  /**
   * Repeats an evaluation as it was stored. `lineBytes` gives the bytes of each parent's line. Throws a RangeError
   * at a merge whose halves are not here: the stored partition is not the continuation of this one.
   */
  replay(
    merges: Iterable<Address>,
    lineBytes: (a: Address) => number,
    target: number | null,
    revision: number,
  ): void {
    for (const a of merges) {
      const left = this.#byStart.get(a.start);
      const right = left && rightOf(left);
      if (!left || !right || left.address.count * 2 !== a.count) {
        throw new RangeError(`No pair of lines here that ${formatAddress(a)} could replace`);
      }
      this.#merge({ left, right, bytes: lineBytes(a) });
    }
    this.target = target;
    this.revision = revision;
  }

  /** Queues the pair that `part` belongs to, if its other half is here too. */
  #queuePair(part: Part): void {
    const { start, count } = part.address;
    const left = start % (2 * count) === 0 ? part : part.older;
    if (!left || left.queued || !rightOf(left)) return;
    left.queued = true;
    this.#heap(count).add(left);
  }

  #heap(count: number): Heap<Part> {
    const level = levelOf(count);
    for (let l = this.#pairs.length; l <= level; l += 1) this.#pairs.push(new Heap<Part>(isOlder));
    return this.#pairs[level] as Heap<Part>;
  }

  /** The pair to merge next: the largest (total - last) / count, and of equals the oldest. */
  #mostDue(parent: BuiltLine): Candidate | undefined {
    let best: Candidate | undefined;
    for (const heap of this.#pairs) {
      const candidate = firstBuilt(heap, parent);
      if (candidate && (!best || this.#isMoreDue(candidate.left.address, best.left.address)))
        best = candidate;
    }
    return best;
  }

  /**
   * Compares two pairs, each by its left half, as fractions multiplied out. Counts are powers of two, so these
   * products are exact in a double at any size.
   */
  #isMoreDue(a: Address, b: Address): boolean {
    const dueA = (this.#total - lastOfPair(a)) * b.count;
    const dueB = (this.#total - lastOfPair(b)) * a.count;
    return dueA > dueB || (dueA === dueB && a.start < b.start);
  }

  #merge({ left, right, bytes }: Candidate): Address {
    const address = parentOf(left.address);
    const part = newPart(address, bytes);
    part.older = left.older;
    part.newer = right.newer;
    if (part.older) part.older.newer = part;
    else this.#oldest = part;
    if (part.newer) part.newer.older = part;
    else this.#newest = part;
    for (const half of [left, right]) {
      half.merged = true;
      // It may still wait in a heap, and must not keep the list around it alive.
      half.older = half.newer = undefined;
    }
    dropMerged(this.#heap(left.address.count));
    this.#byStart.delete(right.address.start);
    this.#byStart.set(address.start, part);
    this.#length -= 1;
    this.#lineBytes += bytes - left.bytes - right.bytes;
    this.#queuePair(part);
    return address;
  }
}

/** The partition as run lengths: it tiles from record 0, so the levels say it all. */
export function runsOf(parts: Iterable<Address>): PartitionRuns {
  const runs: [number, number][] = [];
  for (const { count } of parts) {
    const level = levelOf(count);
    const last = runs.at(-1);
    if (last?.[0] === level) last[1] += 1;
    else runs.push([level, 1]);
  }
  return runs;
}

/** The parts that run lengths stand for. Throws a RangeError when they do not tile: they were not made by `runsOf`. */
export function partsOfRuns(runs: PartitionRuns): Address[] {
  const parts: Address[] = [];
  let total = 0;
  for (const [level, times] of runs) {
    const count = 2 ** level;
    // A damaged number must not fill the memory before `tiles` can judge it.
    if (!Number.isSafeInteger(times) || times < 1 || times > MAX_LINES) {
      throw new RangeError(`${times} lines of level ${level} cannot be part of a view`);
    }
    for (let i = 0; i < times; i += 1) parts.push({ start: total + i * count, count });
    total += count * times;
  }
  if (!tiles(parts, total)) throw new RangeError('These lines do not cover every record once');
  return parts;
}

function newPart(address: Address, bytes: number): Part {
  const alone = { older: undefined, newer: undefined, parentBytes: undefined };
  return { address, bytes, merged: false, queued: false, ...alone };
}

/** The other half of the pair that `left` starts; undefined when it starts none, or the other half is not whole. */
function rightOf(left: Part): Part | undefined {
  const { start, count } = left.address;
  const right = left.newer;
  return right && start % (2 * count) === 0 && right.address.count === count ? right : undefined;
}

/** The oldest pair of a level whose parent is built. Pairs before it that have none leave the heap. */
function firstBuilt(pairs: Heap<Part>, parent: BuiltLine): Candidate | undefined {
  for (;;) {
    dropMerged(pairs);
    const left = pairs.first;
    const right = left && rightOf(left);
    if (!left || !right) return undefined;
    left.parentBytes ??= parent(parentOf(left.address));
    if (left.parentBytes !== undefined) return { left, right, bytes: left.parentBytes };
    pairs.takeFirst();
    left.queued = false;
  }
}

function dropMerged(pairs: Heap<Part>): void {
  while (pairs.first?.merged) pairs.takeFirst();
}

function isOlder(a: Part, b: Part): boolean {
  return a.address.start < b.address.start;
}

/** The last record of the pair that `left` starts. */
function lastOfPair(left: Address): number {
  return left.start + 2 * left.count - 1;
}
