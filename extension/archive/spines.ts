import type { Address } from './address';
import { NO_SOURCE } from './sourceTable';
import { Spine, type Tables } from './spine';

/** Paths kept at once: the branch of the turn, the one before a step back, and what a person looks at. */
const MOST = 4;

/**
 * The paths that somebody has asked for lately. A path is made at its first use, so a journal with many forks costs
 * memory only for those that are looked at; one that grows at its tip stays the same path.
 */
export class Spines {
  /** The least recently used first. */
  #kept: Spine[] = [];

  constructor(private readonly tables: Tables) {}

  /** A path that holds this source: an old one, the grown one of its parent, or a fork. */
  through(tip: number): Spine {
    if (tip === NO_SOURCE) return new Spine(this.tables);
    const { sources } = this.tables;
    const holder = this.#kept.findLast(spine => spine.holds(tip));
    if (holder) return this.#use(holder);
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
    for (const source of missing.reverse()) spine.extend(source);
    return this.#use(spine);
  }

  /** A model's line of the node at `a`, which ends in `source`, has been added. */
  published(source: number, a: Address): void {
    for (const spine of this.#kept) spine.published(source, a);
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
