/** Why a journal did not do what it was asked. */
export type JournalErrorCode =
  /** The line was not stored and nothing of it is left. The journal goes on: try again once there is space. */
  | 'write'
  /** What reached the disk is unknown. Nothing is written until `reopen` has checked the file. */
  | 'read-only'
  /** A bad line with good ones after it. Nothing is ever written past it. */
  | 'damaged'
  /** The torn end could not be put aside, so it was not cut either. */
  | 'tail'
  /** This text can't be a line. */
  | 'invalid'
  | 'closed';

/** A failure of the journal, told in three sentences: what happened, what is safe, what to do. */
export class JournalError extends Error {
  constructor(
    readonly code: JournalErrorCode,
    readonly happened: string,
    readonly safe: string,
    readonly advice: string,
    cause?: unknown,
  ) {
    super(`${happened} ${safe} ${advice}`, cause === undefined ? {} : { cause });
    this.name = 'JournalError';
  }
}

/** A system error in a few words, without a stack. */
export function reasonOf(e: unknown): string {
  return e instanceof Error ? e.message : String(e);
}
