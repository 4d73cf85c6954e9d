import { recordsOf } from '../../extension/archive/normalise';
import { Ancestry } from '../../extension/pi/ancestry';
import { entriesSince, newestRun, runMarker } from '../../extension/pi/marker';
import type { PiEntry, PiMessage, PiSession } from '../../extension/pi/piTypes';
import { liveTurn } from '../../extension/pi/projection';
import { fieldsOf, type Handler } from './vector';

type Line =
  | { readonly type: 'message'; readonly id: string; readonly role: string; readonly text: string }
  | { readonly type: 'custom'; readonly id: string; readonly customType: string }
  | { readonly type: 'context_edit' | 'compaction'; readonly id: string };

/** The file's short form as Pi's entries, each the child of the one before it. */
function entriesOf(lines: readonly Line[]): PiEntry[] {
  return lines.map((line, i) => {
    const place = { parentId: lines[i - 1]?.id ?? null, timestamp: new Date(i).toISOString() };
    switch (line.type) {
      case 'message': {
        const content = [{ type: 'text', text: line.text }];
        return { ...line, ...place, message: { role: line.role, content, timestamp: i } };
      }
      case 'custom':
        return {
          ...line,
          ...place,
          customType: line.customType === 'RUN' ? runMarker(true)[0] : line.customType,
        };
      default:
        return { ...line, ...place };
    }
  }) as unknown as PiEntry[];
}

function sessionAt(leaf: string | undefined, entries: readonly PiEntry[]): PiSession {
  return { getLeafId: () => leaf ?? null, getEntry: id => entries.find(entry => entry.id === id) };
}

export const branch_sources: Handler = vector => {
  const { input, expect } = fieldsOf<{ input: Line[]; expect: object }>(vector);
  const entries = entriesOf(input);
  const session = sessionAt(entries.at(-1)?.id, entries);
  const marker = newestRun(session);
  if (marker === undefined) throw new Error('no run marker found');
  const recordsBefore = (at: PiSession): [string, string][] => {
    const ancestry = new Ancestry(at);
    ancestry.read();
    const sources = ancestry.nextBatch(Infinity, marker)?.sources ?? [];
    return sources.flatMap(({ message }) => recordsOf(message)).map(({ kind, text }) => [kind, text]);
  };
  // What Pi's own function gives for the entries that follow the marker here.
  const messagesOf = (entry: PiEntry): PiMessage[] => (entry.type === 'message' ? [entry.message] : []);
  const before = entries[entries.findIndex(({ id }) => id === marker) - 1];
  const turn = liveTurn(before, entriesSince(session, marker) ?? [], messagesOf);
  const anchor = entries.find(entry => entry.type === 'message' && entry.message === turn?.anchor);
  const actual = {
    requestId: marker,
    anchor: anchor?.id,
    // Only the edits before the marker are known while the marker is the leaf.
    recordsWithPrefixOnlyEdits: recordsBefore(sessionAt(marker, entries)),
    recordsWithWholeBranchEdits: recordsBefore(session),
  };
  return { expected: expect, actual };
};
