import { CaptureTable } from './captureTable';
import { LineTable } from './lineTable';
import { MessageTable } from './messageTable';
import type { SavedState } from './savedState';
import { turn } from './serial';
import { SourceTable } from './sourceTable';

/** The tables of a saved state, ready to be looked things up in. */
export interface Restored {
  readonly saved: SavedState;
  readonly messages: MessageTable;
  readonly sources: SourceTable;
  readonly lines: LineTable;
  readonly captures: CaptureTable;
}

/** Makes them one after the other, and lets others run in between. `saved` has passed `fitsItself`. */
export async function restore(saved: SavedState): Promise<Restored> {
  const messages = new MessageTable(saved.messages);
  await turn();
  const sources = new SourceTable(messages, saved.sources);
  await turn();
  const lines = new LineTable(saved.lines);
  await turn();
  const captures = new CaptureTable(saved.captures);
  await turn();
  return { saved, messages, sources, lines, captures };
}
