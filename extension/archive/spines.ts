import type { Address } from './address';
import type { Source } from './source';
import { Spine, type ModelLines } from './spine';

/**
 * The paths that somebody has asked for. A path is made at its first use, so a journal with many forks costs memory
 * for those that are looked at; one that grows at its tip stays the same path.
 */
export class Spines {
  readonly #all: Spine[] = [];
  readonly #homes = new Map<Source, Spine>();

  constructor(private readonly modelLines: ModelLines) {}

  /** A path that holds this source: an old one, the grown one of its parent, or a fork. */
  through(tip: Source | undefined): Spine {
    if (!tip) return new Spine(this.modelLines);
    const missing: Source[] = [];
    let at: Source | undefined = tip;
    while (at && !this.#homes.has(at)) {
      missing.push(at);
      at = at.parent;
    }
    const shared = at && this.#homes.get(at);
    const spine = this.#growing(at, shared, missing.length === 0);
    for (const source of missing.reverse()) {
      spine.extend(source);
      this.#homes.set(source, spine);
    }
    return spine;
  }

  /** A model's line of the node at `a`, which ends in `source`, has been added. */
  published(source: Source, a: Address): void {
    for (const spine of this.#all) spine.published(source, a);
  }

  #growing(at: Source | undefined, shared: Spine | undefined, complete: boolean): Spine {
    if (shared && (complete || shared.tip === at)) return shared;
    const spine = shared ? shared.fork(at) : new Spine(this.modelLines);
    this.#all.push(spine);
    return spine;
  }
}
