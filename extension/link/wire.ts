import type { Socket } from 'node:net';
import {
  createMessageConnection,
  SocketMessageWriter,
  type Message,
  type MessageConnection,
} from 'vscode-jsonrpc/node';
import type { Log } from '../archive/ports';
import { BoundedReader, IN_FLIGHT_BYTES, MESSAGE_BYTES, RefusedError } from './reader';
import { TOO_LARGE } from './wireError';

/** One connection between a Pi and an owner, of either side. */
export interface Wire {
  readonly rpc: MessageConnection;
  readonly reader: BoundedReader;
  /** Resolves once the connection is gone, for whatever reason. Requests in flight have been rejected by then. */
  readonly closed: Promise<void>;
  readonly isClosed: boolean;
  /** Aborted when the connection goes: whoever works for the other side takes itself out again when it is done. */
  readonly working: Set<AbortController>;
  close(): void;
}

class TooLargeError extends Error {}

/** The other side would close the connection for it, and then nobody knew why. */
function encode(message: Message): Promise<Uint8Array> {
  const bytes = Buffer.from(JSON.stringify(message), 'utf8');
  return bytes.length > MESSAGE_BYTES ? Promise.reject(new TooLargeError(TOO_LARGE)) : Promise.resolve(bytes);
}

/** Tells the reader what was answered, and never piles up answers for a peer that doesn't read them. */
class CountingWriter extends SocketMessageWriter {
  constructor(
    private readonly out: Socket,
    private readonly reader: BoundedReader,
  ) {
    super(out, { contentTypeEncoder: { name: 'application/json', encode } });
  }
  override async write(message: Message): Promise<void> {
    if (this.out.writableLength > IN_FLIGHT_BYTES) this.out.destroy();
    if (!('method' in message) && 'id' in message) {
      const id = message.id;
      if (typeof id === 'number' || typeof id === 'string') this.reader.answered(id);
    }
    await super.write(message);
  }
}

/**
 * Speaks JSON-RPC over a connected socket, within bounds. Handlers are registered on `rpc` before `rpc.listen()`.
 * The `gate` judges the first message: see `BoundedReader`.
 */
export function openWire(
  socket: Socket,
  log: Log,
  gate?: (message: { readonly [name: string]: unknown }) => boolean,
): Wire {
  const reader = new BoundedReader(socket, gate);
  const rpc = createMessageConnection(reader, new CountingWriter(socket, reader), {
    error: text => log.warn(`Link: ${text}`),
    warn: text => log.warn(`Link: ${text}`),
    info: () => undefined,
    log: () => undefined,
  });
  let isClosed = false;
  const working = new Set<AbortController>();
  const closed = new Promise<void>(resolve => {
    const end = () => {
      if (isClosed) return;
      isClosed = true;
      // Without this a request in flight would never settle: the library only stops listening when a socket closes.
      rpc.dispose();
      socket.destroy();
      for (const work of working) work.abort();
      resolve();
    };
    rpc.onClose(end);
    rpc.onError(([e]) => {
      // Only this one message failed, and whoever sent it is told.
      if (e instanceof TooLargeError) return;
      if (e instanceof RefusedError) log.warn(`Link: closed a connection: ${e.message}.`);
      end();
    });
    rpc.onDispose(end);
    // The library's own listeners go with it, and an error after that must not end the process.
    socket.on('error', end);
    socket.on('close', end);
  });
  return {
    rpc,
    reader,
    closed,
    working,
    get isClosed() {
      return isClosed;
    },
    close: () => rpc.dispose(),
  };
}
