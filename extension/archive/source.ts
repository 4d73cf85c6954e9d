import type { Chain, EntryId, SourceKey } from './ids';
import type { FrameRef } from './ports';
import type { RecordKind } from './record';

/** What is kept in memory of a record. Everything longer than a line is read from the journal when asked for. */
export interface RecordMeta {
  readonly kind: RecordKind;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
  /** UTF-8 bytes of the raw text. */
  readonly bytes: number;
  /** The raw text when it fits a line (NODE_BYTES), and then it is its own line. */
  readonly raw?: string;
}

/** Where the journal holds a message: the line, and which of its ops. */
export interface MessagePlace {
  readonly ref: FrameRef;
  readonly op: number;
}

/**
 * One source at its place in an ancestry. Sources form a trie: each names the one before it, and its chain value
 * names the whole path from the root, so the number of its first record is the same on every branch that holds it.
 */
export interface Source {
  readonly chain: Chain;
  /** The source before this one; absent at the root. */
  readonly parent: Source | undefined;
  readonly key: SourceKey;
  /** Provenance: the id Pi gave to the entry that was bound first. */
  readonly entry: EntryId;
  /** Number of this source's first record. */
  readonly first: number;
  readonly records: readonly RecordMeta[];
  readonly place: MessagePlace;
}

/** How many records an ancestry has that ends with this source. */
export function recordsThrough(source: Source | undefined): number {
  return source ? source.first + source.records.length : 0;
}
