import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { framesOf, MESSAGE_BYTES, PART_BYTES } from '../../../extension/link/frame';
import { BoundedReader, RefusedError } from '../../../extension/link/reader';
import { anOwner, APPEND, frame, pause, until } from './pieces';
import { is, useLink } from './useLink';
import { useStranger } from './useStranger';

const MiB = 1024 * 1024;
/** A message of exactly so many bytes, of which few letters begin where a part does. */
const encoded = (bytes: number) => {
  const message = { jsonrpc: '2.0', id: 1, method: 'm', params: { text: '' } };
  const room = bytes - JSON.stringify(message).length;
  message.params.text = `${'x'.repeat(room % 2)}${'é'.repeat(Math.floor(room / 2))}`;
  return { message, bytes: Buffer.from(JSON.stringify(message)) };
};

describe('A message in parts', function () {
  this.timeout(120_000);

  function reading(messageMs = 30_000) {
    const stream = new PassThrough();
    const reader = new BoundedReader(stream as unknown as Socket, { messageMs });
    const seen: unknown[] = [];
    const errors: Error[] = [];
    reader.onError(e => errors.push(e));
    reader.listen(message => seen.push(message));
    return { stream, seen, errors };
  }
  /** Header and body of each part. */
  function partsOf(bytes: Buffer): Buffer[] {
    const frames = framesOf(bytes);
    return Array.from({ length: frames.length / 2 }, (_, i) => Buffer.concat(frames.slice(2 * i, 2 * i + 2)));
  }
  async function refused(parts: readonly (Buffer | string)[]): Promise<string> {
    const { stream, seen, errors } = reading();
    for (const part of parts) stream.write(part);
    await until('it is refused', () => stream.destroyed, 20_000);
    assert.deepEqual(seen, []);
    assert.ok(errors[0] instanceof RefusedError);
    return errors[0].message;
  }

  it('arrives as it was sent, from one byte over 16 MiB on, however it was cut', async () => {
    for (const size of [MESSAGE_BYTES + 1, 2 * MESSAGE_BYTES, 31 * MiB]) {
      const { message, bytes } = encoded(size);
      const parts = partsOf(bytes);
      assert.equal(parts.length, Math.ceil(bytes.length / PART_BYTES));
      const cuts = fc.sample(fc.integer({ min: 1, max: 3 * MiB }), { numRuns: 20, seed: size });
      const { stream, seen, errors } = reading();
      const all = Buffer.concat(parts);
      for (let at = 0, i = 0; at < all.length; i++) {
        const n = cuts[i % cuts.length] ?? 1;
        stream.write(all.subarray(at, at + n));
        at += n;
      }
      await until('it is there', () => seen.length === 1, 20_000);
      assert.deepEqual(errors, []);
      assert.deepEqual(seen, [message]);
    }
  });

  it('is refused with a part missing, twice, out of order, of another size or of another message', async () => {
    const [a, b, c, d] = partsOf(encoded(31 * MiB).bytes) as [Buffer, Buffer, Buffer, Buffer];
    const other = partsOf(encoded(30 * MiB).bytes);
    assert.equal(await refused([b]), 'a part out of order');
    assert.equal(await refused([a, c]), 'a part out of order');
    assert.equal(await refused([a, a]), 'a part out of order');
    assert.equal(await refused([a, b, b]), 'a part out of order');
    assert.equal(await refused([a, b, c, c, d]), 'a part out of order');
    assert.equal(await refused([a, other[1] ?? '']), 'a part out of order');
    assert.equal(await refused([a, other[0] ?? '']), 'a part out of order');
    const small = frame({ jsonrpc: '2.0', id: 2, method: 'm' });
    assert.equal(await refused([a, small]), 'a message with a part missing');
    const total = 31 * MiB;
    for (const header of [
      `Content-Length: 5\r\nPart: 0/${total}`,
      `Content-Length: ${PART_BYTES + 1}\r\nPart: 0/${total}`,
    ])
      assert.equal(await refused([`${header}\r\n\r\n`]), 'a part of a wrong size');
    for (const header of [
      `Part: 0/${MESSAGE_BYTES}`,
      'Part: 0/0',
      `Part: 0/${64 * MiB + 1}`,
      'Part: 0/99999999',
    ])
      assert.equal(
        await refused([`Content-Length: ${PART_BYTES}\r\n${header}\r\n\r\n`]),
        'a message in parts of a wrong size',
      );
    for (const header of ['Part: 0', 'Part: -1/9', 'Part: 0/4294967295', 'part: 0/30000000', 'Part: a/b'])
      assert.equal(await refused([`Content-Length: 8388608\r\n${header}\r\n\r\n`]), 'bad header');
  });

  it('is given up when it does not come to its end in time, even if a byte comes now and then', async () => {
    const { stream, seen } = reading(300);
    const [first] = partsOf(encoded(31 * MiB).bytes);
    stream.write(first);
    await until('it has begun', () => stream.readableLength === 0);
    const timer = setInterval(() => stream.writable && stream.write('C'), 100);
    await until('it is refused', () => stream.destroyed, 5000);
    clearInterval(timer);
    assert.deepEqual(seen, []);
    // The clock stops between messages: who says nothing is no slow sender.
    const idle = reading(100);
    idle.stream.write(frame({ jsonrpc: '2.0', id: 1, method: 'm' }));
    await pause(300);
    assert.equal(idle.stream.destroyed, false);
    assert.equal(idle.seen.length, 1);
  });
});

describe('A large original over the link', function () {
  this.timeout(120_000);
  const { serve, join } = useLink();
  const text = (length: number) => ({
    ...APPEND,
    message: { ...APPEND.message, content: [{ type: 'text' as const, text: 'x'.repeat(length) }] },
  });

  it('travels both ways in order with small ones, and leaves the connection as it was', async () => {
    const sizes: number[] = [];
    await serve(() =>
      anOwner({
        append: async request => void sizes.push(JSON.stringify(request).length),
        zoom: async () => ({ text: 'ü'.repeat(15 * MiB) }),
      }),
    );
    const owner = await join();
    const zoom = { start: 0, count: 1, offset: 0 };
    const [, , , answer] = await Promise.all([
      owner.append(APPEND),
      owner.append(text(31 * MiB)),
      owner.append(APPEND),
      owner.zoom(zoom),
    ]);
    assert.deepEqual(
      sizes.map(size => Math.floor(size / MiB)),
      [0, 31, 0],
    );
    assert.equal(answer['text'], 'ü'.repeat(15 * MiB));
    // A second and a third one: what the first took was given back.
    for (let i = 0; i < 2; i++) await owner.append(text(40 * MiB));
    assert.equal(sizes.length, 5);
  });

  it('over 64 MiB is refused in words, whoever sends it, and the connection goes on', async () => {
    await serve(() => anOwner({ zoom: async () => ({ text: 'x'.repeat(65 * MiB) }) }));
    const owner = await join();
    await assert.rejects(owner.append(text(65 * MiB)), is('invalid', /64 MiB/));
    await assert.rejects(owner.zoom({ start: 0, count: 1, offset: 0 }), is('invalid', /64 MiB/));
    await owner.append(APPEND);
  });
});

describe('A message in parts on a real socket', function () {
  this.timeout(60_000);
  const { raw, welcomed, closedAtOnce, cutOff, calls, lines } = useStranger();

  it('is refused before the hello', async () => {
    const connection = raw();
    connection.send(`Content-Length: ${PART_BYTES}\r\nPart: 0/${31 * MiB}\r\n\r\n`);
    await closedAtOnce(connection);
    await cutOff(connection);
  });

  it('is thrown away when the connection ends in the middle of it', async () => {
    const params = { ...APPEND, message: { ...APPEND.message, content: [{ type: 'text', text: '' }] } };
    const request = { jsonrpc: '2.0', id: 1, method: 'journal/append', params };
    (params.message.content[0] as { text: string }).text = 'x'.repeat(20 * MiB);
    const frames = framesOf(Buffer.from(JSON.stringify(request)));
    const half = await welcomed();
    for (const bytes of frames.slice(0, 4)) half.send(bytes);
    half.socket.end();
    await half.closedWithin(20_000);
    assert.deepEqual(calls(), ['accept']);
    const whole = await welcomed();
    for (const bytes of frames) whole.send(bytes);
    await until('the whole one is acknowledged', () => whole.received.includes('"result":null'), 20_000);
    assert.deepEqual(calls(), ['accept', 'accept', 'append']);
    assert.deepEqual(lines(), []);
  });
});
