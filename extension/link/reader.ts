import type { Socket } from 'node:net';
import { AbstractMessageReader, type DataCallback, type Disposable, type Message } from 'vscode-jsonrpc/node';

/** Bounds of one connection, in bytes. */
export const HELLO_BYTES = 4 * 1024;
export const MESSAGE_BYTES = 16 * 1024 * 1024;
export const IN_FLIGHT_BYTES = 64 * 1024 * 1024;

const PREFIX = Buffer.from('Content-Length: ', 'latin1');
const MAX_HEADER_BYTES = 32;
const HEADER = /^Content-Length: (\d{1,8})\r\n\r\n$/;

/** Why a connection was closed by this side. The text names no content of the message. */
export class RefusedError extends Error {}

type Fields = { readonly [name: string]: unknown };
type MessageId = string | number;

/**
 * Reads `Content-Length` frames from a socket within bounds, which vscode-jsonrpc's own reader hasn't got. Anything
 * that breaks a rule is answered by destroying the socket, without a word: a bad header, a length over the limit,
 * bytes that are not UTF-8 JSON, something that is no JSON-RPC message, too much in flight.
 *
 * With a `gate`, the first message must pass it and may be 4 KiB long, and nothing else may come before `admit`.
 */
export class BoundedReader extends AbstractMessageReader {
  private callback: DataCallback | undefined;
  private header = Buffer.alloc(MAX_HEADER_BYTES);
  private headerBytes = 0;
  private body: Buffer | undefined;
  private bodyBytes = 0;
  private bodyLength = 0;
  private state: 'closed-gate' | 'waiting' | 'open' | 'refused';
  /** Requests handed on and not answered yet, with their sizes. */
  private readonly unanswered = new Map<MessageId, number>();
  private unansweredBytes = 0;

  constructor(
    private readonly socket: Socket,
    private readonly gate?: (message: Fields) => boolean,
  ) {
    super();
    this.state = gate === undefined ? 'open' : 'closed-gate';
  }

  listen(callback: DataCallback): Disposable {
    this.callback = callback;
    const onData = (chunk: Buffer) => this.take(chunk);
    this.socket.on('data', onData);
    this.socket.on('error', e => this.fireError(e));
    this.socket.on('close', () => this.fireClose());
    return { dispose: () => this.socket.off('data', onData) };
  }

  /** The hello was accepted: messages of full size may come. */
  admit(): void {
    if (this.state === 'waiting') this.state = 'open';
  }

  /** A request was answered, so its bytes no longer count as in flight. */
  answered(id: MessageId): void {
    this.unansweredBytes -= this.unanswered.get(id) ?? 0;
    this.unanswered.delete(id);
  }

  private take(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && this.state !== 'refused')
      at = this.body === undefined ? this.takeHeader(chunk, at) : this.takeBody(this.body, chunk, at);
  }

  private takeHeader(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      const n = this.headerBytes;
      // At the first wrong byte, so that a browser or a stray program is not listened to for long.
      if (n === MAX_HEADER_BYTES || (n < PREFIX.length && byte !== PREFIX[n]))
        return this.refuse('bad header');
      this.header[n] = byte;
      this.headerBytes++;
      if (byte !== 0x0a || this.headerBytes < 2 || this.header[n - 2] !== 0x0a) continue;
      const length = HEADER.exec(this.header.toString('latin1', 0, this.headerBytes))?.[1];
      if (length === undefined) return this.refuse('bad header');
      this.headerBytes = 0;
      return this.startBody(Number(length), at + 1);
    }
    return chunk.length;
  }

  private startBody(length: number, next: number): number {
    if (length === 0 || length > (this.state === 'open' ? MESSAGE_BYTES : HELLO_BYTES))
      return this.refuse('message too long');
    if (this.unansweredBytes + length > IN_FLIGHT_BYTES) return this.refuse('too much in flight');
    this.bodyLength = length;
    this.bodyBytes = 0;
    // Memory follows what was received, not what was announced.
    this.body = Buffer.allocUnsafeSlow(Math.min(length, 64 * 1024));
    return next;
  }

  private takeBody(body: Buffer, chunk: Buffer, from: number): number {
    const n = Math.min(chunk.length - from, this.bodyLength - this.bodyBytes);
    let into = body;
    if (this.bodyBytes + n > into.length) {
      into = Buffer.allocUnsafeSlow(Math.min(this.bodyLength, Math.max(into.length * 2, this.bodyBytes + n)));
      body.copy(into, 0, 0, this.bodyBytes);
      this.body = into;
    }
    chunk.copy(into, this.bodyBytes, from, from + n);
    this.bodyBytes += n;
    if (this.bodyBytes === this.bodyLength) {
      this.body = undefined;
      this.deliver(into.subarray(0, this.bodyLength));
    }
    return from + n;
  }

  private deliver(bytes: Buffer): void {
    const message = decode(bytes);
    if (message === undefined) return void this.refuse('not a JSON-RPC message');
    if (this.state === 'waiting') return void this.refuse('a message before the hello was answered');
    if (this.state === 'closed-gate') {
      if (this.gate?.(message) !== true) return void this.refuse('no valid hello');
      this.state = 'waiting';
    }
    const id = message['id'];
    if (typeof message['method'] === 'string' && (typeof id === 'string' || typeof id === 'number')) {
      // Two requests of one id could not be told apart when they are answered.
      if (this.unanswered.has(id)) return void this.refuse('a request id used twice');
      this.unanswered.set(id, bytes.length);
      this.unansweredBytes += bytes.length;
    }
    this.callback?.(message as unknown as Message);
  }

  private refuse(reason: string): number {
    this.state = 'refused';
    this.body = undefined;
    this.fireError(new RefusedError(reason));
    this.socket.destroy();
    return Number.MAX_SAFE_INTEGER;
  }
}

/**
 * A request, a notification or an answer of JSON-RPC 2.0 with named parameters, which are always there; undefined for
 * everything else. vscode-jsonrpc takes the shape of what it gets for granted.
 */
function decode(bytes: Buffer): Fields | undefined {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return undefined;
  }
  if (!isFields(value) || value['jsonrpc'] !== '2.0') return undefined;
  const { id, method, params, result, error } = value;
  if (typeof method === 'string') {
    if (id !== undefined && !isId(id)) return undefined;
    if (params !== undefined && !isFields(params)) return undefined;
    const named = params ?? {};
    if (method.startsWith('$/') && !(method === '$/cancelRequest' && isId(named['id']))) return undefined;
    return { jsonrpc: '2.0', ...(id !== undefined && { id }), method, params: named };
  }
  if (method !== undefined || !isId(id)) return undefined;
  if (error === undefined) return result === undefined ? undefined : { jsonrpc: '2.0', id, result };
  return isFields(error) && typeof error['code'] === 'number' && typeof error['message'] === 'string'
    ? { jsonrpc: '2.0', id, error }
    : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isId(value: unknown): value is MessageId {
  return typeof value === 'number'
    ? Number.isSafeInteger(value)
    : typeof value === 'string' && value.length <= 64;
}
