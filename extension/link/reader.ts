import type { Socket } from 'node:net';
import { AbstractMessageReader, type DataCallback, type Disposable, type Message } from 'vscode-jsonrpc/node';
import type { Fields } from './fields';
import {
  HEADER_PREFIX,
  HELLO_BYTES,
  IN_FLIGHT_BYTES,
  MAX_HEADER_BYTES,
  MESSAGE_BYTES,
  parseHeader,
  partProblem,
  type Announced,
} from './frame';
import { decodeMessage } from './rpcMessage';
import { Traffic } from './traffic';

/** A message that has begun ends within this time, in parts or not. A hello has less: the server sees to that. */
const MESSAGE_MS = 30_000;

const LF = 0x0a;

/** Why a connection was closed by this side. The text names no content of the message. */
export class RefusedError extends Error {}

export interface ReaderOptions {
  readonly traffic?: Traffic;
  /** Judges the first message, which may be 4 KiB long; nothing else may come before `admit`. */
  readonly gate?: ((message: Fields) => boolean) | undefined;
  /** Milliseconds in place of the usual limit. */
  readonly messageMs?: number;
}

/** A message under way in parts: `bytes` has the size of the whole. */
interface Assembly {
  readonly bytes: Buffer;
  received: number;
}

/**
 * Reads `Content-Length` frames from a socket within bounds, which vscode-jsonrpc's own reader hasn't got. Anything
 * that breaks a rule is answered by destroying the socket, without a word: a bad header, a length over the limit,
 * bytes that are not UTF-8 JSON, something that is no JSON-RPC message, parts out of order, too much in flight, a
 * message that takes too long.
 */
export class BoundedReader extends AbstractMessageReader {
  private callback: DataCallback | undefined;
  private header = Buffer.alloc(MAX_HEADER_BYTES);
  private headerBytes = 0;
  private body: Buffer | undefined;
  private bodyBytes = 0;
  private bodyLength = 0;
  private assembly: Assembly | undefined;
  private state: 'closed-gate' | 'waiting' | 'open' | 'refused';
  private late: NodeJS.Timeout | undefined;
  private readonly traffic: Traffic;

  constructor(
    private readonly socket: Socket,
    private readonly options: ReaderOptions = {},
  ) {
    super();
    this.traffic = options.traffic ?? new Traffic();
    this.state = options.gate === undefined ? 'open' : 'closed-gate';
  }

  listen(callback: DataCallback): Disposable {
    this.callback = callback;
    const onData = (chunk: Buffer) => this.take(chunk);
    this.socket.on('data', onData);
    this.socket.on('error', e => this.fireError(e));
    this.socket.on('close', () => {
      this.forget();
      this.fireClose();
    });
    return { dispose: () => this.socket.off('data', onData) };
  }

  /** The hello was accepted: messages of full size may come. */
  admit(): void {
    if (this.state === 'waiting') this.state = 'open';
  }

  override dispose(): void {
    this.forget();
    super.dispose();
  }

  private take(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && this.state !== 'refused')
      at = this.body === undefined ? this.takeHeader(chunk, at) : this.takeBody(this.body, chunk, at);
    if (this.state === 'refused') return;
    const isBetween = this.headerBytes === 0 && this.body === undefined && this.assembly === undefined;
    if (isBetween) {
      clearTimeout(this.late);
      this.late = undefined;
    } else
      this.late ??= setTimeout(
        () => void this.refuse('a message that took too long'),
        this.options.messageMs ?? MESSAGE_MS,
      );
  }

  private takeHeader(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      const n = this.headerBytes;
      // At the first wrong byte, so that a browser or a stray program is not listened to for long.
      if (n === MAX_HEADER_BYTES || (n < HEADER_PREFIX.length && byte !== HEADER_PREFIX[n]))
        return this.refuse('bad header');
      this.header[n] = byte;
      this.headerBytes++;
      if (byte !== LF || n < 2 || this.header[n - 2] !== LF) continue;
      const announced = parseHeader(this.header.toString('latin1', 0, this.headerBytes));
      if (announced === undefined) return this.refuse('bad header');
      this.headerBytes = 0;
      return this.startBody(announced, at + 1);
    }
    return chunk.length;
  }

  private startBody(announced: Announced, next: number): number {
    const problem = this.problemOf(announced);
    if (problem !== undefined) return this.refuse(problem);
    this.bodyLength = announced.bytes;
    this.bodyBytes = 0;
    if (announced.kind === 'part') {
      // The pages of a large buffer cost memory when they are written to, not before.
      this.assembly ??= { bytes: Buffer.allocUnsafeSlow(announced.total), received: 0 };
      this.body = this.assembly.bytes.subarray(this.assembly.received);
    } else {
      // Memory follows what was received, not what was announced.
      this.body = Buffer.allocUnsafeSlow(Math.min(announced.bytes, 64 * 1024));
    }
    return next;
  }

  private problemOf(announced: Announced): string | undefined {
    if (announced.kind === 'whole') {
      if (this.assembly !== undefined) return 'a message with a part missing';
      const limit = this.state === 'open' ? MESSAGE_BYTES : HELLO_BYTES;
      if (announced.bytes === 0 || announced.bytes > limit) return 'message too long';
      return this.fits(announced.bytes);
    }
    if (this.state !== 'open') return 'a message in parts before the hello';
    const before = this.assembly && {
      total: this.assembly.bytes.length,
      received: this.assembly.received,
    };
    return partProblem(announced, before) ?? this.fits(announced.total);
  }

  private fits(bytes: number): string | undefined {
    return this.traffic.unansweredBytes + bytes > IN_FLIGHT_BYTES ? 'too much in flight' : undefined;
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
    if (this.bodyBytes === this.bodyLength) this.endBody(into);
    return from + n;
  }

  private endBody(body: Buffer): void {
    this.body = undefined;
    const { assembly } = this;
    if (assembly === undefined) {
      this.deliver(body.subarray(0, this.bodyLength));
      return;
    }
    assembly.received += this.bodyLength;
    if (assembly.received < assembly.bytes.length) return;
    this.assembly = undefined;
    this.deliver(assembly.bytes);
  }

  private deliver(bytes: Buffer): void {
    const message = decodeMessage(bytes);
    if (message === undefined) return void this.refuse('not a JSON-RPC message');
    if (this.state === 'waiting') return void this.refuse('a message before the hello was answered');
    if (this.state === 'closed-gate') {
      if (this.options.gate?.(message) !== true) return void this.refuse('no valid hello');
      this.state = 'waiting';
    }
    const verdict = this.traffic.incoming(message, bytes.length);
    if (verdict === 'pass') this.callback?.(message as unknown as Message);
    else if (verdict !== 'drop') this.refuse(verdict.refused);
  }

  private refuse(reason: string): number {
    this.state = 'refused';
    this.forget();
    this.fireError(new RefusedError(reason));
    this.socket.destroy();
    return Number.MAX_SAFE_INTEGER;
  }

  private forget(): void {
    this.body = undefined;
    this.assembly = undefined;
    clearTimeout(this.late);
    this.late = undefined;
  }
}
