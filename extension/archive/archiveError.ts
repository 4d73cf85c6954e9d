/** The same words as the link's error codes, which this room may not import; the composition maps them one to one. */
export type ArchiveErrorCode =
  /** The archive cannot be written, or is damaged. */
  | 'archive'
  /** It belongs to another process. */
  | 'locked'
  /** This process can take no locks, so it may only read. */
  | 'no-locks'
  /** Memory could not be prepared; the next prompt may try again. */
  | 'prepare'
  /** The request itself was wrong. */
  | 'invalid'
  | 'cancelled'
  /** Memory is off for this archive. */
  | 'off';

/** A refusal that a person may read: what happened, what is safe, what to do. */
export class ArchiveError extends Error {
  constructor(
    readonly code: ArchiveErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'ArchiveError';
  }
}
