import type { EntryId } from './ids';
import { isObject, wellFormed } from './json';
import type { Block, CustomMessage, StoredMessage } from './message';
import { recordsOf } from './normalise';
import { parseContent, parseMessage, parseTime } from './parseMessage';

/** An entry's place in the tree of a session file. */
export interface Place {
  readonly id: EntryId;
  /** Null at the root. */
  readonly parentId: EntryId | null;
}
interface Placed extends Place {
  /** Milliseconds since 1970, when Pi wrote the entry; 0 when it does not say. */
  readonly timestamp: number;
}
/** A message of any role. `message` is absent when it was never in the model's context or is only instructions. */
export interface MessageEntry extends Placed {
  readonly type: 'message';
  readonly role: string;
  readonly message?: StoredMessage;
}
/** A message of an extension, in the model's context. */
export interface CustomMessageEntry extends Placed {
  readonly type: 'custom_message';
  readonly message: CustomMessage;
}
export interface BranchSummaryEntry extends Placed {
  readonly type: 'branch_summary';
  readonly summary: string;
}
/** State of an extension, never in the model's context. Our run marker is one. */
export interface CustomEntry extends Placed {
  readonly type: 'custom';
  readonly customType: string;
}
/** From here on the target is left out of the model's context (null), or has other content. */
export interface ContextEditEntry extends Placed {
  readonly type: 'context_edit';
  readonly targetId: EntryId;
  readonly replacement: readonly Block[] | null;
}
export interface CompactionEntry extends Placed {
  readonly type: 'compaction';
}
export interface SessionInfoEntry extends Placed {
  readonly type: 'session_info';
  readonly name: string;
}
/** Anything else, of this or a later Pi: a link of the chain of entries and nothing more. */
export interface OtherEntry extends Placed {
  readonly type: 'other';
  readonly name: string;
}
export type SessionEntry =
  | MessageEntry
  | CustomMessageEntry
  | BranchSummaryEntry
  | CustomEntry
  | ContextEditEntry
  | CompactionEntry
  | SessionInfoEntry
  | OtherEntry;

/**
 * An entry of a session, live or from a file of format 1, 2 or 3; undefined for a value that is none (a header, a
 * damaged line). Entries of format 1 have no ids: the caller says with `unnamed` where such an entry stands, else
 * it is none. Never throws.
 */
export function parseEntry(value: unknown, unnamed?: Place): SessionEntry | undefined {
  if (!isObject(value) || typeof value['type'] !== 'string' || value['type'] === 'session') return undefined;
  const place = placeOf(value) ?? unnamed;
  if (!place) return undefined;
  const timestamp = parseTime(value['timestamp']);
  const at: Placed = { id: place.id, parentId: place.parentId, timestamp };
  switch (value['type']) {
    case 'message': {
      const raw = value['message'];
      const message = parseMessage(raw);
      const role = isObject(raw) && typeof raw['role'] === 'string' ? raw['role'] : '';
      return { ...at, type: 'message', role, ...(message && { message: dated(message, timestamp) }) };
    }
    case 'custom_message':
      return {
        ...at,
        type: 'custom_message',
        message: {
          role: 'custom',
          customType: textOf(value['customType']),
          content: parseContent(value['content']),
          timestamp,
        },
      };
    case 'branch_summary':
      return { ...at, type: 'branch_summary', summary: textOf(value['summary']) };
    case 'custom':
      return { ...at, type: 'custom', customType: textOf(value['customType']) };
    case 'context_edit':
      return contextEdit(value, at);
    case 'compaction':
      return { ...at, type: 'compaction' };
    case 'session_info':
      return { ...at, type: 'session_info', name: textOf(value['name']) };
    default:
      return { ...at, type: 'other', name: value['type'] };
  }
}

/**
 * The message of an entry that is a source, after the newest context edit of it on the branch, if any; undefined
 * when the entry is none: it yields no record (spec/archive.md 1.3), or the edit took it out of the context.
 * Both sides of the link decide with this, so they agree on what a chain is made of.
 */
export function messageOf(entry: SessionEntry, edit?: ContextEditEntry): StoredMessage | undefined {
  const message = edited(original(entry), edit);
  return message && recordsOf(message).length > 0 ? message : undefined;
}

function original(entry: SessionEntry): StoredMessage | undefined {
  switch (entry.type) {
    case 'message':
    case 'custom_message':
      return entry.message;
    case 'branch_summary':
      return { role: 'branchSummary', summary: entry.summary, timestamp: entry.timestamp };
    default:
      return undefined;
  }
}

/** Pi replaces the content of messages that have one and leaves shell commands and branch summaries as they are. */
function edited(
  message: StoredMessage | undefined,
  edit: ContextEditEntry | undefined,
): StoredMessage | undefined {
  if (!message || !edit) return message;
  if (edit.replacement === null) return undefined;
  return 'content' in message ? { ...message, content: edit.replacement } : message;
}

function contextEdit(value: { readonly [name: string]: unknown }, at: Placed): SessionEntry {
  const { targetId, replacement } = value;
  const content = isObject(replacement) ? replacement['content'] : undefined;
  const known = typeof content === 'string' || Array.isArray(content);
  // An edit that Pi could not have written changes nothing.
  if (typeof targetId !== 'string' || (replacement !== null && !known))
    return { ...at, type: 'other', name: 'context_edit' };
  return {
    ...at,
    type: 'context_edit',
    targetId: targetId as EntryId,
    replacement: replacement === null ? null : parseContent(content),
  };
}

function placeOf({ id, parentId }: { readonly [name: string]: unknown }): Place | undefined {
  if (typeof id !== 'string' || id === '') return undefined;
  return { id: id as EntryId, parentId: typeof parentId === 'string' ? (parentId as EntryId) : null };
}

/** Old files have messages without a time of their own. */
function dated(message: StoredMessage, timestamp: number): StoredMessage {
  return message.timestamp === 0 ? { ...message, timestamp } : message;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? wellFormed(value) : '';
}
