import { messageOf, type ContextEditEntry, type SessionEntry } from './entry';
import type { EntryId } from './ids';
import type { StoredMessage } from './message';

/** An entry that is remembered, with its message as the model's context has it. */
export interface EntrySource {
  readonly entry: EntryId;
  readonly message: StoredMessage;
}

/**
 * The sources of one branch, root first, from its entries, root first. Of several context edits of one entry the
 * newest on this branch counts, wherever on it that stands (spec/archive.md 1.5).
 */
export function sourcesOf(path: readonly SessionEntry[]): EntrySource[] {
  const edits = new Map<EntryId, ContextEditEntry>();
  for (const entry of path) if (entry.type === 'context_edit') edits.set(entry.targetId, entry);
  const sources: EntrySource[] = [];
  for (const entry of path) {
    const message = messageOf(entry, edits.get(entry.id));
    if (message) sources.push({ entry: entry.id, message });
  }
  return sources;
}
