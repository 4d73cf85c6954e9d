import { parentOf, type Address } from './address';
import type { Branch } from './branch';
import { Heap } from './heap';

/**
 * The parents of a branch that a model could write now, the one that ends first at hand. Gathered once, then kept up
 * by looking above what was published: a build must not go through all that waits for each line.
 */
export class ReadyParents {
  readonly #heap = new Heap<Address>(endsBefore);
  /** Leaves up to here have been looked above. */
  #seen: number;

  constructor(private readonly branch: Branch) {
    for (const a of branch.waiting()) this.#heap.add(a);
    this.#seen = branch.processed;
  }

  get first(): Address | undefined {
    return this.#heap.first;
  }
  takeFirst(): void {
    this.#heap.takeFirst();
  }
  /** One that was taken and could not start. */
  add(a: Address): void {
    this.#heap.add(a);
  }

  /** These lines were published, and with them leaves that follow from their records may have come. */
  look(published: readonly Address[]): void {
    const found = new Map<number, Set<number>>();
    for (const a of published) if (a.count > 1) this.#above(a, found);
    // A parent waits from the moment its second half is built, which for leaves is the right one.
    const { processed } = this.branch;
    for (let start = this.#seen; start < processed; start++) this.#above({ start, count: 1 }, found);
    this.#seen = processed;
  }

  /** The nearest ancestor that is not built; it is ready if it waits. */
  #above(a: Address, found: Map<number, Set<number>>): void {
    let at = parentOf(a);
    while (this.branch.line(at)) at = parentOf(at);
    if (!this.branch.isWaiting(at)) return;
    const level = found.get(at.count) ?? new Set();
    if (level.has(at.start)) return;
    found.set(at.count, level.add(at.start));
    this.#heap.add(at);
  }
}

function endsBefore(a: Address, b: Address): boolean {
  const difference = a.start + a.count - (b.start + b.count);
  return difference < 0 || (difference === 0 && a.count < b.count);
}
