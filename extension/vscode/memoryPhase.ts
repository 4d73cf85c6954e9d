import type { Archive, ArchiveEvent } from '../archive/archive';
import type { Progress } from '../archive/requests';
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

/** What the status bar says of a served session. */
export function activityOf({
  archive,
  phase,
}: {
  readonly archive: Archive;
  readonly phase: Phase;
}): MemoryActivity {
  if (archive.readOnly !== undefined) return { state: 'stopped', reason: archive.readOnly };
  // A request that waits is told of even if memory was switched off meanwhile: it waits all the same.
  if (phase.state === 'preparing') return { state: 'preparing', ...phase.progress };
  // An old failure concerns nobody any more once memory is off.
  if (!archive.memory) return { state: 'off' };
  if (phase.state === 'failed') return { state: 'stopped', reason: phase.message };
  const viewBytes = archive.state.turns.at(-1)?.receipt.bytes ?? 0;
  return { state: 'ready', records: archive.branch().records, viewBytes };
}
