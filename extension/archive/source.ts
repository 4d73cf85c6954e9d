import type { Chain, EntryId, SourceKey } from './ids';
import type { FrameRef } from './ports';
import type { RecordKind } from './record';

/** What is kept in memory of a record. Its text is read from the journal when asked for. */
export interface RecordMeta {
  readonly kind: RecordKind;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
  /** UTF-8 bytes of the raw text. At most NODE_BYTES, and the text is its own line. */
  readonly bytes: number;
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
  /** Names it inside its state. */
  readonly row: number;
  readonly chain: Chain;
  /** The chain of the source before this one; absent at the root. */
  readonly parent?: Chain;
  readonly key: SourceKey;
  /** Provenance: the id Pi gave to the entry that was bound first. */
  readonly entry: EntryId;
  /** Number of this source's first record. */
  readonly first: number;
  /** How many records it has. */
  readonly count: number;
  readonly place: MessagePlace;
}

/** How many records an ancestry has that ends with this source. */
export function recordsThrough(source: Source | undefined): number {
  return source ? source.first + source.count : 0;
}
