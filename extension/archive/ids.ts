/** A string that only this module's functions make, so that ids of different kinds cannot be mixed up. */
type Brand<Name extends string> = string & { readonly __brand: Name };

/** Pi's own session id: free text, legal in two projects at once. */
export type SessionId = Brand<'SessionId'>;
/** Names an archive folder: 24 hex digits of sha256(real cwd NUL session id). */
export type ArchiveId = Brand<'ArchiveId'>;
/** The id Pi gave to an entry of a session file. Provenance, never identity: forks repeat them. */
export type EntryId = Brand<'EntryId'>;
/** A turn's id: the entry id of its run marker. */
export type TurnId = Brand<'TurnId'>;
/** 64 hex digits: sha256 of the canonical JSON of what counts in a source. */
export type SourceKey = Brand<'SourceKey'>;
/** 32 hex digits naming a prefix of an ancestry: c(i) = H(c(i-1), key(i)). */
export type Chain = Brand<'Chain'>;
/** The text form of a `Capture`, unique in a session. */
export type CaptureId = Brand<'CaptureId'>;

/** The empty ancestry. */
export const ROOT_CHAIN = '0'.repeat(32) as Chain;

/** What tells one finished message of a live session from every other, before Pi has given it an entry id. */
export interface Capture {
  /** The run marker's entry id; a message outside any run carries the leaf's entry id, or `-`. */
  readonly marker: string;
  /** Counts the messages of that run from 0, in the order Pi announced them. */
  readonly ordinal: number;
  readonly role: string;
  /** Present for tool results. */
  readonly toolCallId?: string;
}

export function captureId(c: Capture): CaptureId {
  return JSON.stringify([c.marker, c.ordinal, c.role, c.toolCallId ?? null]) as CaptureId;
}
