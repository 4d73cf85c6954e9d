/** What was used last, up to a total size; the rest is forgotten, the least recently used first. */
export class RecentItems<K, V> {
  readonly #items = new Map<K, { readonly value: V; readonly size: number }>();
  #size = 0;

  /** `most` is in the unit of the sizes that `set` is given. */
  constructor(private readonly most: number) {}

  get(key: K): V | undefined {
    const item = this.#items.get(key);
    if (!item) return undefined;
    this.#items.delete(key);
    this.#items.set(key, item);
    return item.value;
  }
  /** The newest item stays even when it alone is larger than all may be. */
  set(key: K, value: V, size: number): void {
    this.delete(key);
    this.#items.set(key, { value, size });
    this.#size += size;
    for (const oldest of this.#items.keys()) {
      if (this.#size <= this.most || this.#items.size === 1) return;
      this.delete(oldest);
    }
  }
  delete(key: K): void {
    const item = this.#items.get(key);
    if (!item) return;
    this.#items.delete(key);
    this.#size -= item.size;
  }
}
