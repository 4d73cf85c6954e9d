import type { PiEntry, PiSession } from '../../../extension/pi/piTypes';

/** A session in memory with the shape of Pi's: entries that only grow, and a leaf that moves. */
export class SessionTree implements PiSession {
  readonly entries: PiEntry[] = [];
  readonly #byId = new Map<string, PiEntry>();
  #leaf: string | null = null;
  /** How often an entry was looked at. */
  reads = 0;

  getLeafId(): string | null {
    return this.#leaf;
  }

  getEntry(id: string): PiEntry | undefined {
    this.reads++;
    return this.#byId.get(id);
  }

  navigate(id: string | null): void {
    this.#leaf = id;
  }

  /** Appends a child of the leaf and gives its id. */
  add(entry: object): string {
    const id = `e${this.entries.length}`;
    const timestamp = new Date(1_700_000_000_000 + this.entries.length * 1000).toISOString();
    const full = { ...entry, id, parentId: this.#leaf, timestamp } as unknown as PiEntry;
    this.entries.push(full);
    this.#byId.set(id, full);
    this.#leaf = id;
    return id;
  }

  user(text: string): string {
    return this.add({
      type: 'message',
      message: { role: 'user', content: [{ type: 'text', text }], timestamp: this.#time() },
    });
  }

  assistant(text: string, stopReason = 'stop'): string {
    return this.add({
      type: 'message',
      message: { role: 'assistant', content: [{ type: 'text', text }], stopReason, timestamp: this.#time() },
    });
  }

  system(): string {
    return this.add({ type: 'message', message: { role: 'system', content: '', timestamp: this.#time() } });
  }

  custom(text: string): string {
    return this.add({ type: 'custom_message', customType: 'other', content: text, display: true });
  }

  marker(): string {
    return this.add({ type: 'custom', customType: 'strata.run', data: { version: 1, memory: true } });
  }

  /** Replaces an entry's content, or takes it out of the context. */
  edit(targetId: string, content: string | null): string {
    return this.add({
      type: 'context_edit',
      targetId,
      replacement: content === null ? null : { content },
    });
  }

  compaction(): string {
    return this.add({ type: 'compaction', summary: 'short', firstKeptEntryId: 'e0', tokensBefore: 1 });
  }

  #time(): number {
    return 1_700_000_000_000 + this.entries.length * 1000;
  }
}
