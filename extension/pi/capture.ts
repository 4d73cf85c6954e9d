import { sourceKey } from '../archive/canonical';
import type { Capture, EntryId, SourceKey } from '../archive/ids';
import { recordsOf } from '../archive/normalise';
import { parseMessage } from '../archive/parseMessage';
import type { AppendRequest, BindSource } from '../archive/requests';
import type { StoredMessage } from '../archive/message';
import type { LiveSource } from './ancestry';
import type { PiMessage } from './piTypes';

/** A finished message on its way to the owner. */
export interface Finished {
  readonly request: AppendRequest;
  readonly key: SourceKey;
}

/**
 * What an archive keeps of a message that Pi announced as finished, without thinking; undefined when that is
 * nothing (spec/archive.md 1.3: instructions, empty replies, what never was in the model's context).
 */
export function finished(message: PiMessage, marker: string, ordinal: number): Finished | undefined {
  const stored = parseMessage(message);
  if (!stored || recordsOf(stored).length === 0) return undefined;
  return {
    request: { capture: captureOf(stored, marker, ordinal), message: stored },
    key: sourceKey(stored),
  };
}

function captureOf(message: StoredMessage, marker: string, ordinal: number): Capture {
  return {
    marker,
    ordinal,
    role: message.role,
    ...(message.role === 'toolResult' && { toolCallId: message.toolCallId }),
  };
}

/** A source that this Pi had no acknowledgement for: nobody announced it, or an earlier Pi had one and was killed. */
function unannounced({ entry, message, run }: LiveSource): BindSource {
  const guess = run && captureOf(message, run.marker, run.nth);
  return { entry, message, ...(guess && { guess }) };
}

interface Acknowledged {
  readonly capture: Capture;
  readonly key: SourceKey;
}

/**
 * Acknowledged messages that have no entry id yet. Pi makes the entry after `message_end`; it is recognised by Pi's
 * own message object, which most entries carry, else (an extension's message, or one that another extension
 * replaced) by what it says.
 */
export class Captures {
  readonly #byObject = new WeakMap<object, Acknowledged>();
  #waiting: Acknowledged[] = [];
  readonly #byEntry = new Map<EntryId, Acknowledged | 'lost'>();

  acknowledged(message: PiMessage, done: Finished): void {
    const acknowledged: Acknowledged = { capture: done.request.capture, key: done.key };
    this.#byObject.set(message, acknowledged);
    this.#waiting.push(acknowledged);
  }

  /** A source as it is bound: without its message when the owner holds that under a capture with the same key. */
  toBind(source: LiveSource): BindSource {
    const found = this.#byEntry.get(source.entry) ?? this.#assign(source);
    if (!found || found === 'lost') return unannounced(source);
    return found.key === source.key
      ? { entry: source.entry, capture: found.capture }
      : { entry: source.entry, capture: found.capture, message: source.message };
  }

  /** The owner does not hold what it acknowledged (another owner, or its journal was lost): send the message itself. */
  lost(entry: EntryId): void {
    this.#byEntry.set(entry, 'lost');
  }

  bound(sources: readonly LiveSource[]): void {
    for (const { entry } of sources) this.#byEntry.delete(entry);
  }

  /** A settled turn whose entries are all bound leaves nothing that could still get one. */
  clear(): void {
    this.#waiting = [];
    this.#byEntry.clear();
  }

  #assign(source: LiveSource): Acknowledged | undefined {
    const { raw } = source;
    const own = raw.type === 'message' ? this.#byObject.get(raw.message) : undefined;
    const found =
      own && this.#waiting.includes(own) ? own : this.#waiting.find(one => one.key === source.key);
    if (!found) return undefined;
    this.#waiting = this.#waiting.filter(one => one !== found);
    this.#byEntry.set(source.entry, found);
    return found;
  }
}
