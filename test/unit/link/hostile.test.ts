import assert from 'node:assert/strict';
import { lstatSync, readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { connectOwner } from '../../../extension/link/client';
import type { HostRecord } from '../../../extension/link/discovery';
import { PROTOCOL_VERSION } from '../../../extension/link/protocol';
import { startLinkServer, type LinkServer } from '../../../extension/link/server';
import {
  aLog,
  anOwner,
  APPEND,
  frame,
  helloFrame,
  identity,
  pause,
  pi,
  RawConnection,
  until,
  useScratch,
} from './pieces';

const MiB = 1024 * 1024;

describe('A stranger on the socket', function () {
  this.timeout(60_000);
  const scratch = useScratch();
  let server: LinkServer;
  let record: HostRecord;
  let log: ReturnType<typeof aLog>;
  let calls: string[];
  const open: RawConnection[] = [];

  beforeEach(async () => {
    log = aLog();
    calls = [];
    server = await startLinkServer({
      root: scratch(),
      folders: [scratch()],
      accept: async () => {
        calls.push('accept');
        return anOwner({ append: async () => void calls.push('append') });
      },
      log,
    });
    record = JSON.parse(readFileSync(server.runFile, 'utf8')) as HostRecord;
  });
  afterEach(async () => {
    for (const raw of open.splice(0)) raw.socket.destroy();
    await server.dispose();
  });

  function raw(): RawConnection {
    const connection = new RawConnection(record.socket);
    open.push(connection);
    return connection;
  }
  async function welcomed(): Promise<RawConnection> {
    const connection = raw();
    connection.send(helloFrame(record.token, scratch()));
    await until('the hello is answered', () => connection.received.includes('"ok":true'));
    return connection;
  }
  /** Closed because of what it sent, not because its second was over: that is logged in other words. */
  async function closedAtOnce(connection: RawConnection): Promise<void> {
    const before = log.lines.length;
    await connection.closedWithin(5000);
    assert.deepEqual(
      log.lines.slice(before).map(l => l.startsWith('Link: closed a connection: ')),
      [true],
    );
  }
  /** Nothing but closing may be the answer, and others are served as before. */
  async function cutOff(connection: RawConnection, limit = 5000): Promise<void> {
    await connection.closedWithin(limit);
    assert.equal(connection.received, '');
    assert.deepEqual(calls, []);
    const link = await connectOwner({ root: scratch(), session: identity(scratch()), pi, timeoutMs: 5000 });
    await link.append(APPEND);
    link.dispose();
  }

  it('finds a socket of mode 0600 in a folder of mode 0700', () => {
    if (process.platform === 'win32') return;
    const mode = (file: string) => (lstatSync(file).mode & 0o777).toString(8);
    assert.equal(mode(record.socket), '600');
    assert.equal(mode(path.dirname(record.socket)), '700');
    assert.equal(mode(server.runFile), '600');
    assert.equal(mode(path.dirname(server.runFile)), '700');
    assert.ok(Buffer.byteLength(record.socket) <= 103);
  });

  it('is cut off a second after connecting without a hello', async () => {
    const connection = raw();
    const took = await connection.closedWithin(10_000);
    assert.ok(took >= 900, `after ${took} ms`);
    await cutOff(connection);
  });

  it('is cut off as well when its hello comes a byte each 100 ms', async () => {
    const connection = raw();
    let sent = 0;
    const timer = setInterval(() => connection.send(helloFrame(record.token, scratch())[sent++] ?? ' '), 100);
    try {
      await cutOff(connection, 10_000);
    } finally {
      clearInterval(timer);
    }
    assert.ok(sent > 2);
  });

  it('gets not a byte for a wrong token, whatever is wrong with it', async () => {
    const flipped = `${record.token.startsWith('0') ? '1' : '0'}${record.token.slice(1)}`;
    for (const token of [
      flipped,
      '0'.repeat(64),
      '',
      record.token.slice(1),
      `${record.token}0`,
      record.token.toUpperCase(),
    ]) {
      if (token === record.token) continue;
      const connection = raw();
      connection.send(helloFrame(token, scratch()));
      await closedAtOnce(connection);
      assert.equal(connection.received, '');
    }
    const connection = raw();
    connection.send(helloFrame(flipped, scratch()));
    await closedAtOnce(connection);
    await cutOff(connection);
  });

  it('gets not a byte for a token of an earlier start', async () => {
    await server.dispose();
    server = await startLinkServer({
      root: scratch(),
      folders: [scratch()],
      accept: async () => anOwner(),
      log,
    });
    const old = record.token;
    record = JSON.parse(readFileSync(server.runFile, 'utf8')) as HostRecord;
    assert.notEqual(record.token, old);
    const connection = raw();
    connection.send(helloFrame(old, scratch()));
    await closedAtOnce(connection);
    await cutOff(connection);
  });

  for (const [what, bytes] of [
    ['speaks HTTP', 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'],
    ['announces 4 GiB', 'Content-Length: 4294967295\r\n\r\n'],
    ['announces 999999999999 bytes', 'Content-Length: 999999999999\r\n\r\n'],
    ['announces a byte more than a hello may have', 'Content-Length: 4097\r\n\r\n'],
    ['announces a negative length', 'Content-Length: -1\r\n\r\n'],
    ['announces nothing', 'Content-Length: 0\r\n\r\n'],
    ['sends a second header', 'Content-Length: 5\r\nContent-Type: x\r\n\r\n'],
    ['never ends its header', `Content-Length: ${'1'.repeat(100)}`],
    [
      'sends bytes that are not UTF-8',
      Buffer.concat([Buffer.from('Content-Length: 4\r\n\r\n'), Buffer.from([0x22, 0xff, 0xfe, 0x22])]),
    ],
    ['sends what is no JSON', 'Content-Length: 4\r\n\r\n{]}['],
    ['sends JSON that is no message', frame([{ jsonrpc: '2.0', id: 1, method: 'hello' }])],
    [
      'asks something before its hello',
      frame({ jsonrpc: '2.0', id: 1, method: 'memory/status', params: {} }),
    ],
    ['answers what nobody asked', frame({ jsonrpc: '2.0', id: 1, result: {} })],
    ['sends a hello without parameters', frame({ jsonrpc: '2.0', id: 1, method: 'hello' })],
    ['cancels without saying what', frame({ jsonrpc: '2.0', method: '$/cancelRequest' })],
  ] as const)
    it(`is cut off at once when it ${what}`, async () => {
      const connection = raw();
      connection.send(bytes);
      await closedAtOnce(connection);
      await cutOff(connection);
    });

  it('is cut off when it asks before its hello was answered', async () => {
    const connection = raw();
    const request = frame({ jsonrpc: '2.0', id: 1, method: 'journal/append', params: APPEND });
    connection.send(helloFrame(record.token, scratch()) + request);
    await connection.closedWithin(5000);
    assert.ok(!calls.includes('append'));
  });

  it('is cut off for any garbage, and takes nobody with it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async bytes => {
        fc.pre(bytes[0] !== 'C'.charCodeAt(0));
        const connection = raw();
        connection.send(bytes);
        await closedAtOnce(connection);
        assert.equal(connection.received, '');
      }),
      { numRuns: 30 },
    );
    await (
      await connectOwner({ root: scratch(), session: identity(scratch()), pi, timeoutMs: 5000 })
    ).release();
  });

  it('holds at most 8 places, and only for a second', async () => {
    const flood = Array.from({ length: 100 }, raw);
    await until('the flood is held back', () => flood.filter(c => c.isClosed).length >= 92, 10_000);
    assert.ok(flood.every(c => c.received === ''));
    await Promise.all(flood.map(c => c.closedWithin(10_000)));
    await cutOff(flood[0] ?? assert.fail());
  });

  it('cannot fill memory with 1,000 half messages', async () => {
    for (let i = 0; i < 1000; i++) {
      const connection = raw();
      connection.send('Content-Length: 4000\r\n\r\n{"half');
      if (i % 100 === 99) await pause(20);
    }
    const before = process.memoryUsage().arrayBuffers;
    await pause(100);
    assert.ok(process.memoryUsage().arrayBuffers - before < 8 * MiB);
    await Promise.all(open.map(c => c.closedWithin(10_000)));
    assert.deepEqual(calls, []);
  });

  it('with the token, learns what to update when its version is too far away', async () => {
    for (const version of [PROTOCOL_VERSION - 1, PROTOCOL_VERSION, PROTOCOL_VERSION + 1]) {
      const connection = raw();
      connection.send(helloFrame(record.token, scratch(), version));
      await until('it is let in', () => connection.received.includes('"ok":true'));
    }
    const connection = raw();
    connection.send(helloFrame(record.token, scratch(), PROTOCOL_VERSION + 2));
    await until('it is refused', () => connection.received.includes('"ok":false'));
    assert.match(connection.received, /Update Strata in VS Code/);
    assert.equal(calls.length, 3);
    await connection.closedWithin(5000);
  });

  it('with the token, is refused for a folder that is not open here', async () => {
    const connection = raw();
    connection.send(helloFrame(record.token, `${scratch()}-other`));
    await until('it is refused', () => connection.received.includes('"ok":false'));
    assert.deepEqual(calls, []);
  });

  it('with the token, is cut off for a message over 16 MiB, a second hello gets nothing', async () => {
    const big = await welcomed();
    big.send(`Content-Length: ${16 * MiB + 1}\r\n\r\n`);
    await big.closedWithin(5000);
    const twice = await welcomed();
    twice.send(helloFrame(record.token, scratch(), 1, 7));
    await until('it is answered', () => twice.received.includes('"id":7'));
    assert.match(twice.received, /second hello/);
    assert.equal(calls.filter(c => c === 'accept').length, 2);
  });

  it('with the token, is cut off when more than 64 MiB of its requests wait for an answer', async () => {
    await server.dispose();
    const held = () => new Promise<never>(() => undefined);
    server = await startLinkServer({
      root: scratch(),
      folders: [scratch()],
      accept: async () => anOwner({ append: held }),
      log,
    });
    record = JSON.parse(readFileSync(server.runFile, 'utf8')) as HostRecord;
    const connection = await welcomed();
    const content = [{ type: 'text', text: 'x'.repeat(15 * MiB) }];
    const params = { ...APPEND, message: { ...APPEND.message, content } };
    for (let id = 1; id <= 4; id++)
      connection.send(frame({ jsonrpc: '2.0', id, method: 'journal/append', params }));
    await pause(1500);
    assert.equal(connection.isClosed, false);
    connection.send(frame({ jsonrpc: '2.0', id: 5, method: 'journal/append', params }));
    await connection.closedWithin(20_000);
    assert.ok(log.lines.some(l => l.includes('too much in flight')));
  });

  it('never reads a token in the log, whatever happened', async () => {
    (await welcomed()).socket.destroy();
    const wrong = raw();
    wrong.send(helloFrame('0'.repeat(64), scratch()));
    const late = raw();
    const garbage = raw();
    garbage.send(`Content-Length: ${record.token}\r\n\r\n`);
    await Promise.all([wrong, late, garbage].map(c => c.closedWithin(10_000)));
    assert.equal(log.lines.length, 3);
    assert.ok(!log.lines.some(l => l.includes(record.token) || l.includes('0'.repeat(64))));
  });
});
