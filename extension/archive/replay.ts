import { parseCommit } from './parseCommit';
import type { Frame } from './ports';
import type { ArchiveState } from './state';

/** A place in a journal from which on nothing can be believed. */
export interface Damage {
  /** Byte of the journal's first line that does not fit. */
  readonly offset: number;
  readonly reason: string;
}

/** Applies a journal's next good line to a state; says what is wrong when it is not the line that must come next. */
export function replayFrame(state: ArchiveState, frame: Frame): Damage | undefined {
  const commit = parseCommit(frame.json);
  const reason = commit ? state.apply(commit, frame.ref) : 'the line holds no commit of this format';
  return reason === undefined ? undefined : { offset: frame.ref.offset, reason };
}
