import { nextChain, sourceKey } from '../archive/canonical';
import { messageOf, parseEntry, type ContextEditEntry } from '../archive/entry';
import { ROOT_CHAIN, type Chain, type EntryId, type SourceKey } from '../archive/ids';
import type { StoredMessage } from '../archive/message';
import { utf8Bytes } from '../archive/text';
import { isRunMarker } from './marker';
import type { PiEntry, PiSession } from './piTypes';

/** As many sources an owner takes without holding up its window. */
const BATCH_SOURCES = 500;

/** An entry on the selected branch, as this side remembers it. Texts stay with Pi. */
interface Link {
  readonly id: EntryId;
  /** The chain after this entry. */
  readonly chain: Chain;
  readonly source: boolean;
  readonly compaction: boolean;
  /** What a context edit edits. */
  readonly edits: EntryId | undefined;
  readonly run: PlaceInRun | undefined;
}

/** The newest run marker up to an entry, and how many sources stand between them. */
interface PlaceInRun {
  readonly marker: EntryId;
  readonly nth: number;
}

/** A source as it goes to the owner. */
export interface LiveSource {
  readonly entry: EntryId;
  readonly message: StoredMessage;
  readonly key: SourceKey;
  /** Pi's own object, by which a captured message is recognised. */
  readonly raw: PiEntry;
  /** Absent before the first run marker of the branch. */
  readonly run: PlaceInRun | undefined;
}
export interface SourceBatch {
  readonly after: Chain;
  readonly sources: readonly LiveSource[];
  /** What the owner must answer when it holds them all. */
  readonly chain: Chain;
  /** For `wasBound`. */
  readonly end: number;
}

/**
 * The selected branch of a live session as a line of chain values, kept between requests: reading it again costs
 * what was added since, not what the session holds. Context edits are in force (the newest of a branch wins), so an
 * edit of an old entry changes every chain value after it.
 */
export class Ancestry {
  #line: Link[] = [];
  readonly #at = new Map<string, number>();
  /** Entries of the line that are context edits, oldest first. */
  #editEntries: EntryId[] = [];
  /** The edit in force of each edited entry. */
  #edits: ReadonlyMap<string, ContextEditEntry> = new Map();
  /** Entries between the line and the leaf it was last led to, the leaf first: still to be added. */
  #ahead: PiEntry[] = [];
  /** Links, from the root, that the owner is known to hold. */
  #bound = 0;
  ownerIsUnknown = false;

  constructor(readonly session: PiSession) {}

  /** Follows the session to its present leaf. */
  read(): void {
    this.#lead();
    for (let entry = this.#ahead.pop(); entry; entry = this.#ahead.pop()) this.#add(entry);
  }

  /**
   * As `read`, but lets everything else go on after each `ms` milliseconds: a session of months takes a second, and
   * Pi draws and takes keys meanwhile. `progress` hears how many entries of how many are read.
   */
  async readInPieces(progress?: (done: number, total: number) => void, ms = 20): Promise<void> {
    for (;;) {
      this.#lead();
      const end = performance.now() + ms;
      for (let entry = this.#ahead.pop(); entry; entry = this.#ahead.pop()) {
        this.#add(entry);
        if (performance.now() >= end) break;
      }
      if (this.#ahead.length === 0) return;
      progress?.(this.#line.length, this.#line.length + this.#ahead.length);
      await new Promise(resolve => setImmediate(resolve));
    }
  }

  /** Entries of the branch that the owner is not known to hold, and all of them. */
  get extent(): { readonly left: number; readonly total: number } {
    return { left: this.#line.length - this.#bound, total: this.#line.length };
  }

  /** The chain before an entry of the branch; undefined when it is not on it. */
  chainBefore(entry: string): Chain | undefined {
    const at = this.#at.get(entry);
    return at === undefined ? undefined : this.#chainAfter(at);
  }

  /** Did somebody compact the session after this entry? */
  compactedAfter(entry: string): boolean {
    const at = this.#at.get(entry);
    if (at === undefined) return false;
    for (let i = at + 1; i < this.#line.length; i++) if (this.#line[i]?.compaction) return true;
    return false;
  }

  /** Every chain of the branch, root first, for finding the newest that an owner knows. */
  chains(): Chain[] {
    return this.#line.filter(link => link.source).map(link => link.chain);
  }

  /**
   * The owner holds the branch up to this chain and nothing later is known of it. A chain that isn't on the branch
   * says nothing: `ownerIsUnknown` until another call.
   */
  ownerHolds(chain: Chain): void {
    const at = chain === ROOT_CHAIN ? -1 : this.#line.findLastIndex(link => link.chain === chain);
    this.#bound = at + 1;
    this.ownerIsUnknown = at < 0 && chain !== ROOT_CHAIN;
  }

  wasBound(batch: SourceBatch): void {
    if (batch.end > this.#bound && this.#chainAfter(batch.end) === batch.chain) this.#bound = batch.end;
  }

  /**
   * The next sources the owner lacks, oldest first, ending before the entry `until` when given; undefined when it
   * has all of them. A batch ends after `bytes` bytes of JSON or BATCH_SOURCES, but holds at least one source.
   */
  nextBatch(bytes: number, until?: string): SourceBatch | undefined {
    const end = until === undefined ? this.#line.length : (this.#at.get(until) ?? this.#line.length);
    const after = this.#chainAfter(this.#bound);
    const sources: LiveSource[] = [];
    let size = 0;
    let at = this.#bound;
    for (; at < end && (size < bytes || sources.length === 0) && sources.length < BATCH_SOURCES; at++) {
      const link = this.#line[at];
      if (!link?.source) continue;
      const source = this.#source(link);
      const length = utf8Bytes(JSON.stringify(source.message));
      if (sources.length > 0 && size + length > bytes) break;
      size += length;
      sources.push(source);
    }
    if (sources.length > 0) return { after, sources, chain: this.#chainAfter(at), end: at };
    this.#bound = Math.max(this.#bound, end);
    return undefined;
  }

  #chainAfter(count: number): Chain {
    return this.#line[count - 1]?.chain ?? ROOT_CHAIN;
  }

  /** Finds what is between the line and the present leaf, and the edits in force there. */
  #lead(): void {
    const leaf = this.session.getLeafId();
    if (leaf === ((this.#ahead[0] ?? this.#line.at(-1))?.id ?? null)) return;
    if (this.#ahead.length > 0) {
      // Edits that were ahead are in force in the line already. Hardly ever: the leaf moved while a long session was read.
      this.#ahead = [];
      this.#cut(0);
      this.#editEntries = [];
    }
    const added: PiEntry[] = [];
    let keep = this.#collect(leaf, added);
    // What an edit that came or went edits must be looked at again.
    for (;;) {
      const touched = this.#touched(keep, added);
      if (touched >= keep) break;
      added.length = 0;
      keep = this.#collect(leaf, added, touched);
    }
    this.#cut(keep);
    for (const entry of added) if (entry.type === 'context_edit') this.#editEntries.push(entry.id as EntryId);
    this.#edits = this.#editsInForce();
    this.#ahead = added.reverse();
  }

  /** Walks back from the leaf to a link below `below`; fills `added`, oldest first. How many links stay. */
  #collect(leaf: string | null, added: PiEntry[], below = Infinity): number {
    let id = leaf;
    while (id !== null) {
      const at = this.#at.get(id);
      if (at !== undefined && at < below) break;
      const entry = this.session.getEntry(id);
      if (!entry) break;
      added.push(entry);
      id = entry.parentId;
    }
    added.reverse();
    const at = id === null ? undefined : this.#at.get(id);
    return at === undefined ? 0 : at + 1;
  }

  /** The first link that an edit changes which is dropped or added while its target stays. */
  #touched(keep: number, added: readonly PiEntry[]): number {
    let first = keep;
    const look = (target: string | undefined) => {
      const at = target === undefined ? undefined : this.#at.get(target);
      if (at !== undefined && at < first) first = at;
    };
    for (const entry of added) if (entry.type === 'context_edit') look(entry.targetId);
    for (let i = keep; i < this.#line.length; i++) look(this.#line[i]?.edits);
    return first;
  }

  #cut(keep: number): void {
    for (const link of this.#line.splice(keep)) {
      this.#at.delete(link.id);
      if (link.edits !== undefined) this.#editEntries.pop();
    }
    this.#bound = Math.min(this.#bound, keep);
  }

  #editsInForce(): Map<string, ContextEditEntry> {
    const edits = new Map<string, ContextEditEntry>();
    for (const id of this.#editEntries) {
      const entry = parseEntry(this.session.getEntry(id));
      if (entry?.type === 'context_edit') edits.set(entry.targetId, entry);
    }
    return edits;
  }

  #add(raw: PiEntry): void {
    const entry = parseEntry(raw);
    const message = entry && messageOf(entry, this.#edits.get(entry.id));
    const before = this.#chainAfter(this.#line.length);
    const previous = this.#line.at(-1);
    const run = isRunMarker(raw) ? { marker: raw.id as EntryId, nth: 0 } : placeAfter(previous);
    this.#at.set(raw.id, this.#line.length);
    this.#line.push({
      id: raw.id as EntryId,
      chain: message ? nextChain(before, sourceKey(message)) : before,
      source: message !== undefined,
      compaction: raw.type === 'compaction',
      edits: raw.type === 'context_edit' ? (raw.targetId as EntryId) : undefined,
      run,
    });
  }

  #source(link: Link): LiveSource {
    const raw = this.session.getEntry(link.id);
    const entry = parseEntry(raw);
    const message = entry && messageOf(entry, this.#edits.get(link.id));
    if (!raw || !message) throw new Error(`Pi no longer has the entry ${link.id} it had a moment ago.`);
    return { entry: link.id, message, key: sourceKey(message), raw, run: link.run };
  }
}

function placeAfter(link: Link | undefined): PlaceInRun | undefined {
  return link?.run && link.source ? { ...link.run, nth: link.run.nth + 1 } : link?.run;
}
