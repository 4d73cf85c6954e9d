import type { Socket } from 'node:net';
import { createMessageConnection, type MessageConnection } from 'vscode-jsonrpc/node';
import type { Log } from '../archive/ports';
import type { Fields } from './fields';
import { BoundedReader, RefusedError } from './reader';
import { Traffic } from './traffic';
import { BoundedWriter } from './writer';

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

export interface WireOptions {
  readonly log: Log;
  /** Judges the first message: see `BoundedReader`. */
  readonly gate?: (message: Fields) => boolean;
  /** The notifications that the other side may send; any other one ends the connection. */
  readonly notifications?: readonly string[];
}

/**
 * Speaks JSON-RPC over a connected socket, within bounds. Handlers are registered on `rpc` before `rpc.listen()`.
 */
export function openWire(socket: Socket, { log, gate, notifications }: WireOptions): Wire {
  const traffic = new Traffic(notifications);
  const reader = new BoundedReader(socket, { traffic, gate });
  const rpc = createMessageConnection(reader, new BoundedWriter(socket, traffic), {
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
