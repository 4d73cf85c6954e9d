import type { Socket } from 'node:net';
import { AbstractMessageWriter, type Message, type MessageWriter } from 'vscode-jsonrpc/node';
import type { Fields } from './fields';
import { framesOf, IN_FLIGHT_BYTES } from './frame';
import { RefusedError } from './reader';
import type { Traffic } from './traffic';
import { TOO_LARGE, tooLargeAnswer } from './wireError';

/**
 * Writes messages to a socket, large ones in parts, and within bounds: a message over 64 MiB is refused (for an
 * answer, whoever asked is told), and a peer that doesn't read what it asked for is cut off before 64 MiB more pile up.
 */
export class BoundedWriter extends AbstractMessageWriter implements MessageWriter {
  constructor(
    private readonly socket: Socket,
    private readonly traffic: Traffic,
  ) {
    super();
  }

  /** Resolves when the socket has taken the message. Messages go out whole, in the order of the calls. */
  write(message: Message): Promise<void> {
    let bytes = Buffer.from(JSON.stringify(message), 'utf8');
    if (bytes.length > IN_FLIGHT_BYTES) {
      const { id, method } = message as unknown as Fields;
      if (method !== undefined) return Promise.reject(new Error(TOO_LARGE));
      bytes = Buffer.from(JSON.stringify(tooLargeAnswer(id)), 'utf8');
    }
    if (this.socket.writableLength > IN_FLIGHT_BYTES) {
      this.fireError(new RefusedError('answers that nobody reads'));
      return Promise.reject(new Error('The other side does not read.'));
    }
    this.traffic.outgoing(message);
    return new Promise((resolve, reject) => {
      const frames = framesOf(bytes);
      this.socket.cork();
      for (const frame of frames.slice(0, -1)) this.socket.write(frame);
      this.socket.write(frames.at(-1) ?? '', error => (error ? reject(error) : resolve()));
      this.socket.uncork();
    });
  }

  end(): void {
    this.socket.end();
  }
}
