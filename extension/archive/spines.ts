import type { Address } from './address';
import { turn } from './serial';
import { NO_SOURCE } from './sourceTable';
import { Spine, type Tables } from './spine';

/** Paths kept at once: the branch of the turn, the one before a step back, and what a person looks at. */
const MOST = 4;
/** Sources that are added to a path at once: some milliseconds. */
const SLICE = 4096;

/**
 * The paths that somebody has asked for lately. A path is made at its first use, so a journal with many forks costs
 * memory only for those that are looked at; one that grows at its tip stays the same path.
 */
export class Spines {
  /** The least recently used first. */
  #kept: Spine[] = [];
  /** Not whole yet, and kept up to date like the others. */
  readonly #growing = new Set<Spine>();

  constructor(private readonly tables: Tables) {}

  /** A path that holds this source: an old one, the grown one of its parent, or a fork. */
  through(tip: number): Spine {
    if (tip === NO_SOURCE) return new Spine(this.tables);
    const holder = this.#holder(tip);
    if (holder) return this.#use(holder);
    const { spine, missing } = this.#begin(tip);
    for (const source of missing) spine.extend(source);
    return this.#use(spine);
  }

  /** Makes the path that `through` would make, and lets others run meanwhile: a long one takes a tenth of a second. */
  async grow(tip: number): Promise<void> {
    if (tip === NO_SOURCE || this.#holder(tip)) return;
    const { spine, missing } = this.#begin(tip);
    this.#growing.add(spine);
    try {
      for (const [i, source] of missing.entries()) {
        if (i % SLICE === SLICE - 1) await turn();
        // Somebody could not wait, or it was a kept one that has grown otherwise meanwhile.
        if (this.#holder(tip) || this.tables.sources.parent(source) !== spine.tip) return;
        spine.extend(source);
      }
      this.#use(spine);
    } finally {
      this.#growing.delete(spine);
    }
  }

  #holder(tip: number): Spine | undefined {
    return this.#kept.findLast(spine => spine.holds(tip));
  }

  /** A path on the way to `tip`, and the sources it lacks, in order. */
  #begin(tip: number): { readonly spine: Spine; readonly missing: readonly number[] } {
    const { sources } = this.tables;
    // Back to the nearest source that a kept path holds; usually the first one looked at.
    const missing: number[] = [];
    let at = tip;
    let shared: Spine | undefined;
    while (at !== NO_SOURCE && !shared) {
      missing.push(at);
      at = sources.parent(at);
      if (at !== NO_SOURCE && this.#kept.length > 0) shared = this.#growable(at);
    }
    const spine = shared ? (shared.tip === at ? shared : shared.fork(at)) : new Spine(this.tables);
    return { spine, missing: missing.reverse() };
  }

  /** A model's line of the node at `a`, which ends in `source`, has been added. */
  published(source: number, a: Address): void {
    for (const spine of new Set([...this.#kept, ...this.#growing])) spine.published(source, a);
  }

  /** Of the paths that hold a source, one that ends there if there is one: it can grow and need not be copied. */
  #growable(source: number): Spine | undefined {
    const holders = this.#kept.filter(spine => spine.holds(source));
    return holders.find(spine => spine.tip === source) ?? holders.at(-1);
  }

  #use(spine: Spine): Spine {
    this.#kept = [...this.#kept.filter(other => other !== spine), spine];
    while (this.#kept.length > MOST) {
      const oldest = this.#kept.shift();
      if (oldest) oldest.retired = true;
    }
    return spine;
  }
}
