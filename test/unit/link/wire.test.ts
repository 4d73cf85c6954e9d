import assert from 'node:assert/strict';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { send } from '../../../extension/link/serveOwner';
import { toLinkError } from '../../../extension/link/wireError';
import { openWire, type Wire } from '../../../extension/link/wire';
import { until } from './pieces';

describe('A connection that breaks', () => {
  let dir: string;
  let server: Server;
  let socket: Socket;
  let wire: Wire;
  let peer: Socket | undefined;
  beforeEach(async () => {
    dir = mkdtempSync(path.join(os.tmpdir(), 'strata-wire-'));
    const address = path.join(dir, 's');
    server = createServer(accepted => void (peer = accepted).on('error', () => undefined));
    await new Promise<void>(resolve => server.listen(address, resolve));
    socket = connect(address);
    await new Promise(resolve => socket.once('connect', resolve));
    await until('it is accepted', () => peer !== undefined);
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    wire = openWire(socket, { log });
    wire.rpc.listen();
  });
  afterEach(() => {
    wire.close();
    peer?.destroy();
    server.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const request = () => send(wire, 'status', {}, new AbortController().signal);

  it('under a request that is about to leave is known to be gone by the time that request fails', async () => {
    assert.ok(!wire.isClosed);
    // What a write meets in the moment between the loss of a socket and the word of it.
    socket.destroy();
    let failure: unknown;
    await request().catch((error: unknown) => (failure = error));
    assert.equal(toLinkError(failure).code, 'lost');
    assert.ok(wire.isClosed, 'whoever asks who the owner is would be told the one that is gone');
    await wire.closed;
  });
});
