import type { PiEntry, PiSession } from './piTypes';

/** Our custom entries in Pi's session file. They never reach a model, and other programs ignore them. */
const RUN = 'strata.run';
const MODE = 'strata.mode';

/** Type and data for `appendEntry`. The entry's id is the turn's id; `memory` says if the turn was projected. */
export function runMarker(memory: boolean): [type: string, data: object] {
  return [RUN, { version: 1, memory }];
}

/**
 * What a person said with `/strata on|off`. `told` is false when no owner took it: the next one is told, at once,
 * since the archive's own mode is what counts when there is an owner.
 */
export function modeMarker(on: boolean, told: boolean): [type: string, data: object] {
  return [MODE, { version: 1, on, told }];
}

export function isRunMarker(entry: PiEntry): boolean {
  return entry.type === 'custom' && entry.customType === RUN;
}

export interface BranchMemory {
  /** By the newest of our entries on the branch; `none` on a branch that never had any. */
  readonly said: 'on' | 'off' | 'none';
  /** What a person said last, if no owner has taken it yet. Turns may have run since. */
  readonly untold: 'on' | 'off' | undefined;
}

/** Walks back from the leaf to the newest word of a person. */
export function branchMemory(session: PiSession): BranchMemory {
  let said: BranchMemory['said'] = 'none';
  for (const entry of backwards(session)) {
    if (entry.type !== 'custom') continue;
    if (entry.customType === RUN) {
      if (said === 'none') said = runHasMemory(entry) ? 'on' : 'off';
    } else if (entry.customType === MODE) {
      const data = fields(entry.data);
      const mode = data['on'] !== false ? 'on' : 'off';
      return { said: said === 'none' ? mode : said, untold: data['told'] === false ? mode : undefined };
    }
  }
  return { said, untold: undefined };
}

/** The newest run marker of the branch: the running turn's, when one runs. */
export function newestRun(session: PiSession): string | undefined {
  for (const entry of backwards(session)) if (isRunMarker(entry)) return entry.id;
  return undefined;
}

/** Is the past of this marker's turn sent as memory? */
export function runHasMemory(marker: PiEntry | undefined): boolean {
  return marker?.type !== 'custom' || fields(marker.data)['memory'] !== false;
}

/** The entries after `marker`, oldest first; undefined when the branch does not hold it. */
export function entriesSince(session: PiSession, marker: string): PiEntry[] | undefined {
  const entries: PiEntry[] = [];
  for (const entry of backwards(session)) {
    if (entry.id === marker) return entries.reverse();
    entries.push(entry);
  }
  return undefined;
}

function* backwards(session: PiSession): Generator<PiEntry> {
  let id = session.getLeafId();
  while (id !== null) {
    const entry = session.getEntry(id);
    if (!entry) return;
    yield entry;
    id = entry.parentId;
  }
}

function fields(data: unknown): Record<string, unknown> {
  return typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {};
}
