import type { PiEntry, PiSession } from './piTypes';

/** Our custom entries in Pi's session file. They never reach a model, and other programs ignore them. */
const RUN = 'strata.run';
const MODE = 'strata.mode';

/** Type and data for `appendEntry`. The entry's id is the turn's id; `memory` says if the turn was projected. */
export function runMarker(memory: boolean): [type: string, data: object] {
  return [RUN, { version: 1, memory }];
}

/**
 * What a person said with `/strata on|off`. `told` is false when no owner could be told: the next one is, at once,
 * since the archive's own mode is what counts when there is an owner.
 */
export function modeMarker(on: boolean, told: boolean): [type: string, data: object] {
  return [MODE, { version: 1, on, told }];
}

export function isRunMarker(entry: PiEntry): boolean {
  return entry.type === 'custom' && entry.customType === RUN;
}

/** What the newest of our entries on the branch says; `none` on a branch that never had any. */
export type BranchMemory =
  | { readonly said: 'none' }
  /** `untold`: a person said so while there was no owner. */
  | { readonly said: 'on' | 'off'; readonly untold: boolean };

/** Walks back from the leaf to the newest entry of ours. */
export function branchMemory(session: PiSession): BranchMemory {
  for (const entry of backwards(session)) {
    if (entry.type !== 'custom' || (entry.customType !== RUN && entry.customType !== MODE)) continue;
    const data = fields(entry.data);
    const on = entry.customType === RUN ? data['memory'] !== false : data['on'] !== false;
    return { said: on ? 'on' : 'off', untold: entry.customType === MODE && data['told'] === false };
  }
  return { said: 'none' };
}

/** The newest run marker of the branch: the running turn's, when one runs. */
export function newestRun(session: PiSession): string | undefined {
  for (const entry of backwards(session)) if (isRunMarker(entry)) return entry.id;
  return undefined;
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
