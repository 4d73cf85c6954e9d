import assert from 'node:assert/strict';
import { APPEND, frame, helloFrame, pause, until } from './pieces';
import { useStranger } from './useStranger';

const MiB = 1024 * 1024;
const never = () => new Promise<never>(() => undefined);

/** Everything here has the token: a Pi of another build, or one that went wrong. */
describe('A Pi that was let in and breaks the rules', function () {
  this.timeout(60_000);
  const { restart, root, record, lines, calls, welcomed } = useStranger();
  const refusedFor = (reason: string) =>
    assert.ok(lines().includes(`Link: closed a connection: ${reason}.`), lines().join('\n'));
  const big = (bytes: number) => ({
    ...APPEND,
    message: { ...APPEND.message, content: [{ type: 'text', text: 'x'.repeat(bytes) }] },
  });

  it('is cut off for a message over 16 MiB, a second hello gets nothing', async () => {
    const large = await welcomed();
    large.send(`Content-Length: ${16 * MiB + 1}\r\n\r\n`);
    await large.closedWithin(5000);
    refusedFor('message too long');
    const twice = await welcomed();
    twice.send(helloFrame(record().token, root(), 1, 7));
    await until('it is answered', () => twice.received.includes('"id":7'));
    assert.match(twice.received, /second hello/);
    assert.equal(calls().filter(c => c === 'accept').length, 2);
  });

  it('is cut off when more than 64 MiB of its requests wait for an answer', async () => {
    await restart({ append: never });
    const connection = await welcomed();
    const params = big(15 * MiB);
    for (let id = 1; id <= 4; id++)
      connection.send(frame({ jsonrpc: '2.0', id, method: 'journal/append', params }));
    await pause(1500);
    assert.equal(connection.isClosed, false);
    connection.send(frame({ jsonrpc: '2.0', id: 5, method: 'journal/append', params }));
    await connection.closedWithin(20_000);
    refusedFor('too much in flight');
  });

  it('is cut off when more than 1,024 of its requests wait, however small they are', async () => {
    let waiting = 0;
    await restart({ status: () => (waiting++, never()) });
    const connection = await welcomed();
    const ask = (id: number) => frame({ jsonrpc: '2.0', id, method: 'memory/status' });
    connection.send(Array.from({ length: 1024 }, (_, i) => ask(i + 1)).join(''));
    await until('all of them wait', () => waiting === 1024, 20_000);
    assert.equal(connection.isClosed, false);
    connection.send(ask(2000));
    await connection.closedWithin(10_000);
    refusedFor('too many requests in flight');
    assert.equal(waiting, 1024);
  });

  it('is cut off when it asks and asks, and never reads the answers', async () => {
    const text = 'y'.repeat(8 * MiB);
    let asked = 0;
    await restart({ status: async () => ({ text, n: asked++ }) });
    const connection = await welcomed();
    connection.socket.pause();
    const before = process.memoryUsage().arrayBuffers;
    for (let id = 1; id <= 40 && !lines().length; id++) {
      connection.send(frame({ jsonrpc: '2.0', id, method: 'memory/status' }));
      await pause(20);
    }
    await until('it is refused', () => lines().length > 0, 10_000);
    refusedFor('answers that nobody reads');
    assert.ok(asked < 20, `${asked} answers of 8 MiB were made`);
    assert.ok(process.memoryUsage().arrayBuffers - before < 96 * MiB);
    connection.socket.resume();
    await connection.closedWithin(10_000);
  });

  it('cannot fill the queue with cancellations of nothing, answers to nothing or notifications', async () => {
    const connection = await welcomed();
    const cancel = frame({ jsonrpc: '2.0', method: '$/cancelRequest', params: { id: 99 } });
    const answer = frame({ jsonrpc: '2.0', id: 99, result: {} });
    for (let i = 0; i < 20; i++) connection.send((cancel + answer).repeat(500));
    connection.send(frame({ jsonrpc: '2.0', id: 1, method: 'memory/status' }));
    await until('it is served as before', () => connection.received.includes('"records":3'), 20_000);
    connection.send(frame({ jsonrpc: '2.0', method: 'turn/prepare/progress', params: {} }));
    await connection.closedWithin(5000);
    refusedFor('a notification of an unknown kind');
  });

  it('is not heard on a connection that ended in the middle of a message', async () => {
    const connection = await welcomed();
    const whole = frame({ jsonrpc: '2.0', id: 1, method: 'journal/append', params: APPEND });
    connection.send(whole.slice(0, -1));
    connection.socket.end();
    await connection.closedWithin(5000);
    assert.ok(!calls().includes('append'));
    const again = await welcomed();
    again.send(whole);
    await until('a whole one is heard', () => calls().includes('append'));
  });

  it('cannot make a message count twice by sending it again under another id', async () => {
    // The archive acknowledges a capture it holds; the link hands both on and answers each once.
    const connection = await welcomed();
    for (const id of [1, 2])
      connection.send(frame({ jsonrpc: '2.0', id, method: 'journal/append', params: APPEND }));
    await until('both are answered', () => (connection.received.match(/"result":null/g) ?? []).length === 2);
    connection.send(frame({ jsonrpc: '2.0', id: 2, method: 'memory/status' }));
    await until('an id may be used again after its answer', () =>
      connection.received.includes('"records":3'),
    );
  });
});
