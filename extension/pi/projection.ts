import type { FrozenView } from '../archive/requests';
import type { PiEntry, PiFunctions, PiMessage } from './piTypes';

/** What the entries after a run marker put into the model's context. */
export interface LiveTurn {
  /** The turn's first message that is no instruction: a prompt, or another extension's message. */
  readonly anchor: PiMessage;
  /**
   * When the anchor can have been made, in milliseconds: an extension's message is older than its entry, but not
   * older than what was there before the turn.
   */
  readonly from: number;
  readonly to: number;
  /** Messages of the turn that are no instructions, the anchor among them. */
  readonly length: number;
}

/**
 * Reads the live turn from the entries after its marker; `before` is the entry before the marker. Context edits of the turn itself are in force: Pi writes
 * one before each automatic retry. Undefined when there is nothing to answer.
 */
export function liveTurn(
  before: PiEntry | undefined,
  after: readonly PiEntry[],
  messagesOf: PiFunctions['sessionEntryToContextMessages'],
): LiveTurn | undefined {
  const edits = new Map<string, ReplacementOf>();
  for (const entry of after) if (entry.type === 'context_edit') edits.set(entry.targetId, entry.replacement);
  let first: { readonly message: PiMessage; readonly entry: PiEntry } | undefined;
  let length = 0;
  for (const entry of after) {
    for (const message of messagesOf(entry)) {
      if (message.role === 'system') continue;
      const edit = edits.get(entry.id);
      if (edit === null) continue;
      first ??= { message: edit ? replaced(message, edit) : message, entry };
      length++;
    }
  }
  if (!first) return undefined;
  return {
    anchor: first.message,
    from: before ? Date.parse(before.timestamp) : 0,
    to: Date.parse(first.entry.timestamp),
    length,
  };
}

/**
 * Where the live turn starts among the messages of a request; -1 when its first message isn't there unchanged.
 * Searched from the end by role, time and content, so that messages other extensions add or remove move nothing.
 * A copy of the anchor that another extension appended is not taken for it while the turn's own messages follow an
 * earlier one.
 */
export function anchorIn(messages: readonly PiMessage[], turn: LiveTurn): number {
  const content = contentOf(turn.anchor);
  let last = -1;
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at];
    if (!message || !sameTime(message, turn) || contentOf(message) !== content) continue;
    if (messages.length - at >= turn.length) return at;
    if (last < 0) last = at;
  }
  return last;
}

/**
 * The messages of a request: all system messages before the live turn folded into one, the view (left out while
 * nothing is remembered), then the live turn as it is, with what other extensions added to it.
 */
export function projected(
  messages: readonly PiMessage[],
  anchor: number,
  view: FrozenView,
  fold: PiFunctions['getCurrentSystemMessage'],
): PiMessage[] {
  const head = fold(messages.slice(0, anchor));
  return [...(head ? [head] : []), ...viewMessages(view), ...messages.slice(anchor)];
}

/** One user message, a block a text part, so that a provider can cache the unchanged blocks. */
function viewMessages(view: FrozenView): PiMessage[] {
  if (view.blocks.length === 0) return [];
  return [{ role: 'user', content: view.blocks.map(text => ({ type: 'text', text })), timestamp: 0 }];
}

type ReplacementOf = Extract<PiEntry, { type: 'context_edit' }>['replacement'];

/** As Pi applies an edit: content is replaced, a text for a message of blocks becomes one. */
function replaced(message: PiMessage, edit: NonNullable<ReplacementOf>): PiMessage {
  if (!('content' in message)) return message;
  const blocks = message.role === 'assistant' || message.role === 'toolResult';
  const content =
    blocks && typeof edit.content === 'string' ? [{ type: 'text', text: edit.content }] : edit.content;
  return { ...message, content } as PiMessage;
}

function sameTime(message: PiMessage, { anchor, from, to }: LiveTurn): boolean {
  if (message.role !== anchor.role) return false;
  if (message.role === 'custom' && anchor.role === 'custom')
    // Until Pi has read its entry back, an extension's message has the time of its making, not of its entry.
    return message.customType === anchor.customType && message.timestamp >= from && message.timestamp <= to;
  return message.timestamp === anchor.timestamp;
}

/** What identifies a message beside its role and time. Shell commands and summaries have no content of blocks. */
function contentOf(message: PiMessage): string {
  switch (message.role) {
    case 'bashExecution':
      return JSON.stringify([message.command, message.output]);
    case 'branchSummary':
    case 'compactionSummary':
      return JSON.stringify(message.summary);
    default:
      return JSON.stringify(message.content);
  }
}
