import type { Branch } from './branch';
import { rebuildView } from './frozenText';
import type { ArchiveState } from './state';

/** Something that is not as the journal says. */
export interface Fault {
  /** Byte of the journal line; absent when no single line is to blame. */
  readonly offset?: number;
  /** A part of a sentence, without text of the conversation. */
  readonly text: string;
}
export interface Verified {
  readonly originals: number;
  readonly views: number;
  readonly faults: readonly Fault[];
}

/**
 * Checks what replaying a journal leaves unchecked: reads every original of every branch again and compares it with
 * its key, and rebuilds every frozen view and compares it with its receipt's hash.
 */
export async function verifyState(state: ArchiveState): Promise<Verified> {
  const faults: Fault[] = [];
  const seen = new Set<number>();
  for (const tip of state.tips()) {
    for (const source of (state.branch(tip.chain) as Branch).sources()) {
      if (seen.has(source.row)) continue;
      seen.add(source.row);
      try {
        await state.message(source);
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        faults.push({ offset: source.place.ref.offset, text });
      }
    }
  }
  for (const { number, id, receipt } of state.turns)
    if (!(await rebuildView(state, receipt)).verified)
      faults.push({ text: `the frozen view of turn ${number} (${id}) is not the one its receipt names` });
  return { originals: seen.size, views: state.turns.length, faults };
}
