import type { Fields } from './fields';
import { CANCEL, isId, type MessageId } from './rpcMessage';

/** Requests of one connection that may wait for an answer at the same time: each costs more than its bytes. */
const MAX_UNANSWERED = 1024;

/**
 * What is under way on one connection: the other side's requests that were not answered yet, and ours. It decides
 * which messages get through to vscode-jsonrpc, whose queue has no bound.
 */
export class Traffic {
  readonly #theirs = new Map<MessageId, { readonly bytes: number; cancelled: boolean }>();
  readonly #ours = new Set<MessageId>();
  #bytes = 0;

  /** `notifications` are the only ones that the other side may send, beside cancellation. */
  constructor(private readonly notifications: readonly string[] = []) {}

  /** Bytes of the requests that wait for our answer. */
  get unansweredBytes(): number {
    return this.#bytes;
  }

  /**
   * Judges a message that came in: `pass` it on, `drop` it (too late to mean anything: that happens between honest
   * sides), or the reason to refuse the connection.
   */
  incoming(message: Fields, bytes: number): 'pass' | 'drop' | { readonly refused: string } {
    const { id, method } = message;
    if (typeof method !== 'string') return isId(id) && this.#ours.delete(id) ? 'pass' : 'drop';
    if (isId(id)) return this.#request(id, bytes);
    if (method !== CANCEL)
      return this.notifications.includes(method) ? 'pass' : { refused: 'a notification of an unknown kind' };
    const { id: target } = message['params'] as Fields;
    const request = isId(target) ? this.#theirs.get(target) : undefined;
    if (request === undefined || request.cancelled) return 'drop';
    request.cancelled = true;
    return 'pass';
  }

  /** Notes what goes out: an answer ends one of their requests, a request of ours waits for one. */
  outgoing(message: object): void {
    const { id, method } = message as Fields;
    if (!isId(id)) return;
    if (typeof method === 'string') {
      this.#ours.add(id);
      return;
    }
    this.#bytes -= this.#theirs.get(id)?.bytes ?? 0;
    this.#theirs.delete(id);
  }

  #request(id: MessageId, bytes: number): 'pass' | { readonly refused: string } {
    // Two requests of one id could not be told apart when they are answered.
    if (this.#theirs.has(id)) return { refused: 'a request id used twice' };
    if (this.#theirs.size >= MAX_UNANSWERED) return { refused: 'too many requests in flight' };
    this.#theirs.set(id, { bytes, cancelled: false });
    this.#bytes += bytes;
    return 'pass';
  }
}
