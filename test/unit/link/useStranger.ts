import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connectOwner } from '../../../extension/link/client';
import type { HostRecord } from '../../../extension/link/discovery';
import type { Owner } from '../../../extension/link/protocol';
import { startLinkServer, type LinkServer } from '../../../extension/link/server';
import { aLog, anOwner, APPEND, helloFrame, identity, pi, RawConnection, until, useScratch } from './pieces';

/** What a stranger finds: a server, its run file, and connections that speak bytes. A new one for each test. */
export interface Stranger {
  readonly root: () => string;
  readonly record: () => HostRecord;
  readonly server: () => LinkServer;
  readonly lines: () => readonly string[];
  /** What reached an owner: `accept` and the names of requests. */
  readonly calls: () => readonly string[];
  /** Starts the server anew, with other owners. */
  readonly restart: (parts?: Partial<Owner>) => Promise<void>;
  readonly raw: () => RawConnection;
  readonly opened: () => readonly RawConnection[];
  /** A connection that has said hello with the token and was let in. */
  readonly welcomed: () => Promise<RawConnection>;
  /** Closed because of what it sent, not because its second was over: that is logged in other words. */
  readonly closedAtOnce: (connection: RawConnection) => Promise<void>;
  /** Nothing but closing may be the answer, and others are served as before. */
  readonly cutOff: (connection: RawConnection, limit?: number) => Promise<void>;
}

export function useStranger(): Stranger {
  const scratch = useScratch();
  let server: LinkServer;
  let record: HostRecord;
  let log: ReturnType<typeof aLog>;
  let calls: string[];
  const open: RawConnection[] = [];

  async function start(parts: Partial<Owner> = {}): Promise<void> {
    server = await startLinkServer({
      root: scratch(),
      folders: [scratch()],
      accept: async () => {
        calls.push('accept');
        return anOwner({ append: async () => void calls.push('append'), ...parts });
      },
      log,
    });
    record = JSON.parse(readFileSync(server.runFile, 'utf8')) as HostRecord;
  }
  beforeEach(async () => {
    log = aLog();
    calls = [];
    await start();
  });
  afterEach(async () => {
    for (const connection of open.splice(0)) connection.socket.destroy();
    await server.dispose();
  });

  function raw(): RawConnection {
    const connection = new RawConnection(record.socket);
    open.push(connection);
    return connection;
  }
  return {
    root: scratch,
    record: () => record,
    server: () => server,
    lines: () => log.lines,
    calls: () => calls,
    restart: async parts => {
      await server.dispose();
      await start(parts);
    },
    raw,
    opened: () => open,
    welcomed: async () => {
      const connection = raw();
      connection.send(helloFrame(record.token, scratch()));
      await until('the hello is answered', () => connection.received.includes('"ok":true'));
      return connection;
    },
    closedAtOnce: async connection => {
      await connection.closedWithin(5000);
      assert.ok(log.lines.some(line => line.startsWith('Link: closed a connection: ')));
      assert.ok(!log.lines.some(line => line.includes('within a second')));
    },
    cutOff: async (connection, limit = 5000) => {
      await connection.closedWithin(limit);
      assert.equal(connection.received, '');
      assert.deepEqual(calls, []);
      const link = await connectOwner({ root: scratch(), session: identity(scratch()), pi, timeoutMs: 5000 });
      await link.append(APPEND);
      link.dispose();
    },
  };
}
