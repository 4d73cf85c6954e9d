import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { lstatSync } from 'node:fs';
import path from 'node:path';
import { mock } from 'node:test';
import fc from 'fast-check';
import { connectOwner } from '../../../extension/link/client';
import { APPEND, frame, helloFrame, identity, pause, pi, until } from './pieces';
import { useStranger } from './useStranger';

const MiB = 1024 * 1024;

describe('A stranger on the socket', function () {
  this.timeout(60_000);
  const stranger = useStranger();
  const { raw, closedAtOnce, cutOff } = stranger;

  it('finds a socket of mode 0600 in a folder of mode 0700', () => {
    if (process.platform === 'win32') return;
    const mode = (file: string) => (lstatSync(file).mode & 0o777).toString(8);
    assert.equal(mode(stranger.record().socket), '600');
    assert.equal(mode(path.dirname(stranger.record().socket)), '700');
    assert.equal(mode(stranger.server().runFile), '600');
    assert.equal(mode(path.dirname(stranger.server().runFile)), '700');
    assert.ok(Buffer.byteLength(stranger.record().socket) <= 103);
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
    const timer = setInterval(
      () => connection.send(helloFrame(stranger.record().token, stranger.root())[sent++] ?? ' '),
      100,
    );
    try {
      await cutOff(connection, 10_000);
    } finally {
      clearInterval(timer);
    }
    assert.ok(sent > 2);
  });

  it('gets not a byte for a wrong token, whatever is wrong with it', async () => {
    const flipped = `${stranger.record().token.startsWith('0') ? '1' : '0'}${stranger.record().token.slice(1)}`;
    for (const token of [
      flipped,
      '0'.repeat(64),
      '',
      stranger.record().token.slice(1),
      `${stranger.record().token}0`,
      stranger.record().token.toUpperCase(),
    ]) {
      if (token === stranger.record().token) continue;
      const connection = raw();
      connection.send(helloFrame(token, stranger.root()));
      await closedAtOnce(connection);
      assert.equal(connection.received, '');
    }
    const connection = raw();
    connection.send(helloFrame(flipped, stranger.root()));
    await closedAtOnce(connection);
    await cutOff(connection);
  });

  it('learns nothing of the token from the time that a refusal takes: it is compared in constant time', async () => {
    const compared = mock.method(crypto, 'timingSafeEqual');
    try {
      for (const same of [0, 1, 32, 63]) {
        const { token } = stranger.record();
        const guess =
          token.slice(0, same) + [...token.slice(same)].map(c => (c === '0' ? '1' : '0')).join('');
        const before = compared.mock.callCount();
        const connection = raw();
        connection.send(helloFrame(guess, stranger.root()));
        await closedAtOnce(connection);
        const calls = compared.mock.calls.slice(before);
        assert.equal(calls.length, 1);
        assert.equal(calls[0]?.result, false);
        assert.deepEqual(calls[0].arguments, [Buffer.from(guess), Buffer.from(token)]);
      }
    } finally {
      compared.mock.restore();
    }
  });

  it('gets not a byte for a token of an earlier start', async () => {
    const old = stranger.record().token;
    await stranger.restart();
    assert.notEqual(stranger.record().token, old);
    const connection = raw();
    connection.send(helloFrame(old, stranger.root()));
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
    connection.send(helloFrame(stranger.record().token, stranger.root()) + request);
    await connection.closedWithin(5000);
    assert.ok(!stranger.calls().includes('append'));
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
      await connectOwner({ root: stranger.root(), session: identity(stranger.root()), pi, timeoutMs: 5000 })
    ).release();
  });

  it('holds at most 8 places, and only for a second', async () => {
    const flood = Array.from({ length: 100 }, raw);
    await until('the flood is held back', () => flood.filter(c => c.isClosed).length >= 92, 10_000);
    assert.ok(flood.every(c => c.received === ''));
    await Promise.all(flood.map(c => c.closedWithin(10_000)));
    await cutOff(flood[0] ?? assert.fail());
  });

  it('cannot fill memory with 10,000 half messages', async () => {
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < 10_000; i++) {
      const connection = raw();
      connection.send('Content-Length: 4000\r\n\r\n{"half');
      if (i % 100 !== 99) continue;
      await pause(5);
      assert.ok(process.memoryUsage().arrayBuffers - before < 64 * MiB);
      // Those that hold a place are cut off after a second at the latest.
      if (i % 1000 === 999) await Promise.all(stranger.opened().map(c => c.closedWithin(10_000)));
    }
    assert.ok(process.memoryUsage().arrayBuffers - before < 8 * MiB);
    assert.deepEqual(stranger.calls(), []);
    await cutOff(raw(), 10_000);
  });

  it('with the token, is refused for a folder that is not open here', async () => {
    const connection = raw();
    connection.send(helloFrame(stranger.record().token, `${stranger.root()}-other`));
    await until('it is refused', () => connection.received.includes('"ok":false'));
    assert.deepEqual(stranger.calls(), []);
  });

  it('costs one line of the log for a burst of the same wrong, however long it is', async () => {
    for (let i = 0; i < 50; i++) {
      const connection = raw();
      connection.send('GET / HTTP/1.1\r\n\r\n');
      await connection.closedWithin(5000);
    }
    const wrong = raw();
    wrong.send(helloFrame('0'.repeat(64), stranger.root()));
    await wrong.closedWithin(5000);
    assert.deepEqual(stranger.lines(), [
      'Link: closed a connection: bad header.',
      'Link: closed a connection: no valid hello.',
    ]);
  });

  it('does not stop the work of those who are connected, whatever a hundred others do', async () => {
    const session = identity(stranger.root());
    const link = await connectOwner({ root: stranger.root(), session, pi, timeoutMs: 5000 });
    const wrongs = [
      'GET / HTTP/1.1\r\n\r\n',
      'Content-Length: 4294967295\r\n\r\n',
      'Content-Length: 4000\r\n\r\n{"half',
      helloFrame('0'.repeat(64), stranger.root()),
      'Content-Length: 3\r\nPart: 0/30000000\r\n\r\nabc',
    ];
    for (let i = 0; i < 100; i++) {
      raw().send(wrongs[i % wrongs.length] ?? '');
      if (i % 10 === 0) await link.append(APPEND);
    }
    await Promise.all(stranger.opened().map(c => c.closedWithin(10_000)));
    await link.append(APPEND);
    assert.equal(stranger.calls().filter(c => c === 'append').length, 11);
    link.dispose();
  });

  it('never reads a token in the log, whatever happened', async () => {
    (await stranger.welcomed()).socket.destroy();
    const wrong = raw();
    wrong.send(helloFrame('0'.repeat(64), stranger.root()));
    const late = raw();
    const garbage = raw();
    garbage.send(`Content-Length: ${stranger.record().token}\r\n\r\n`);
    await Promise.all([wrong, late, garbage].map(c => c.closedWithin(10_000)));
    assert.equal(stranger.lines().length, 3);
    assert.ok(!stranger.lines().some(l => l.includes(stranger.record().token) || l.includes('0'.repeat(64))));
  });
});
