/** A binary heap: the item that comes before all others is at hand, and taking or adding one is logarithmic. */
export class Heap<T> {
  readonly #items: T[] = [];

  /** `before` must be a strict order; among equal items any may come first. */
  constructor(private readonly before: (a: T, b: T) => boolean) {}

  get first(): T | undefined {
    return this.#items[0];
  }

  add(item: T): void {
    const items = this.#items;
    let at = items.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const other = items[above] as T;
      if (!this.before(item, other)) break;
      items[at] = other;
      at = above;
    }
    items[at] = item;
  }

  takeFirst(): T | undefined {
    const items = this.#items;
    const first = items[0];
    const item = items.pop();
    if (item === undefined || items.length === 0) return first;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= items.length) break;
      if (below + 1 < items.length && this.before(items[below + 1] as T, items[below] as T)) below += 1;
      const other = items[below] as T;
      if (!this.before(other, item)) break;
      items[at] = other;
      at = below;
    }
    items[at] = item;
    return first;
  }
}
