import type { Archive, ArchiveEvent } from '../archive/archive';
import type { Progress } from '../archive/requests';
import type { ArchiveState } from '../archive/state';
import type { MemoryActivity } from './statusModel';

/** What memory does for a session right now. */
export type Phase =
  | { readonly state: 'idle' }
  | { readonly state: 'preparing'; readonly progress: Progress }
  /** The last prompt was stopped: why, and what to do. */
  | { readonly state: 'failed'; readonly message: string };

/** A commit alone doesn't end a failure: it stays visible until a turn is prepared again. */
export function phaseAfter(phase: Phase, event: ArchiveEvent): Phase {
  switch (event.type) {
    case 'commit':
      return phase;
    case 'preparing':
      return { state: 'preparing', progress: event.progress };
    case 'prepared':
    case 'ended':
      return { state: 'idle' };
    case 'failed':
      return { state: 'failed', message: event.message };
  }
}

/** What the journal of a session says, as its one reader has read it. */
export interface Kept {
  /** Memory on or off; undefined where nobody chose. */
  readonly mode: boolean | undefined;
  readonly records: number;
  /** Of the last frozen view, 0 before the first. */
  readonly viewBytes: number;
  /** When that view was frozen, in milliseconds since 1970; 0 before the first. */
  readonly lastTurn: number;
}

export function keptOf(state: ArchiveState): Kept {
  const last = state.turns.at(-1);
  return {
    mode: state.mode,
    records: state.branch(state.newest)?.records ?? 0,
    viewBytes: last?.receipt.bytes ?? 0,
    lastTurn: last?.at ?? 0,
  };
}

/**
 * What the status bar says of a served session: of its memory what the journal says, of the work under way and of what
 * cannot be written what its owner here knows.
 */
export function activityOf({
  archive,
  phase,
  kept,
}: {
  readonly archive: Pick<Archive, 'readOnly' | 'memory'>;
  readonly phase: Phase;
  readonly kept: Kept;
}): MemoryActivity {
  if (archive.readOnly !== undefined) return { state: 'stopped', reason: archive.readOnly };
  // A request that waits is told of even if memory was switched off meanwhile: it waits all the same.
  if (phase.state === 'preparing') return { state: 'preparing', ...phase.progress };
  // An old failure concerns nobody any more once memory is off.
  if (!(kept.mode ?? archive.memory)) return { state: 'off' };
  if (phase.state === 'failed') return { state: 'stopped', reason: phase.message };
  return { state: 'ready', records: kept.records, viewBytes: kept.viewBytes };
}
