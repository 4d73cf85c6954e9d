import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { BoundedReader, RefusedError } from '../../../extension/link/reader';
import { Traffic } from '../../../extension/link/traffic';
import { frame, pause } from './pieces';

describe('The reader of messages', function () {
  this.timeout(30_000);
  function reading(): { stream: PassThrough; seen: unknown[]; errors: Error[] } {
    const stream = new PassThrough();
    // A reader needs of a socket what every stream has.
    const reader = new BoundedReader(stream as unknown as Socket, { traffic: new Traffic(['m']) });
    const seen: unknown[] = [];
    const errors: Error[] = [];
    reader.onError(e => errors.push(e));
    reader.listen(message => seen.push(message));
    return { stream, seen, errors };
  }

  it('puts messages together however they were cut', async () => {
    const sizes = fc.array(
      fc.oneof(fc.string(), fc.string({ minLength: 1000, maxLength: 200_000, size: 'max' })),
      {
        minLength: 1,
        maxLength: 4,
      },
    );
    await fc.assert(
      fc.asyncProperty(
        sizes,
        fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 3 }),
        async (texts, cuts) => {
          const { stream, seen, errors } = reading();
          const messages = texts.map((text, id) => ({ jsonrpc: '2.0', id, method: 'm', params: { text } }));
          const bytes = Buffer.from(messages.map(frame).join(''));
          for (let at = 0, i = 0; at < bytes.length; i++) {
            // Cuts of a byte each would make most of a million pieces, which proves no more than the first thousands.
            const n = i < 5000 ? (cuts[i % cuts.length] ?? 1) : 70_000;
            stream.write(bytes.subarray(at, at + n));
            at += n;
          }
          stream.end();
          for (let i = 0; seen.length < messages.length && i < 1000; i++) await pause(1);
          assert.deepEqual(errors, []);
          assert.deepEqual(seen, JSON.parse(JSON.stringify(messages)));
        },
      ),
      { numRuns: 40 },
    );
  });

  it('takes a message a byte at a time', async () => {
    const { stream, seen } = reading();
    for (const byte of Buffer.from(frame({ jsonrpc: '2.0', method: 'm', params: { text: 'é漢' } })))
      stream.write(Buffer.from([byte]));
    await pause(20);
    assert.deepEqual(seen, [{ jsonrpc: '2.0', method: 'm', params: { text: 'é漢' } }]);
  });

  it('refuses two requests of one id, and takes nothing after that', async () => {
    const { stream, seen, errors } = reading();
    stream.write(
      frame({ jsonrpc: '2.0', id: 1, method: 'm' }).repeat(2) + frame({ jsonrpc: '2.0', id: 2, method: 'm' }),
    );
    await pause(20);
    assert.equal(seen.length, 1);
    assert.ok(errors[0] instanceof RefusedError);
    assert.ok(stream.destroyed);
  });
});
