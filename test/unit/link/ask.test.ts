import assert from 'node:assert/strict';
import { ask } from '../../../extension/link/ask';
import { LinkError, type LinkErrorCode } from '../../../extension/link/protocol';

const never = () => new Promise<never>(() => undefined);
const is =
  (code: LinkErrorCode, text = /./) =>
  (e: unknown) =>
    e instanceof LinkError && e.code === code && text.test(e.message);

describe('Waiting for the other side', () => {
  it('ends with the answer, at the time limit, or when it is cancelled, and cancels the request', async () => {
    assert.equal(await ask(Promise.resolve(1), { what: 'it' }), 1);
    let cancelled = 0;
    const request = (signal: AbortSignal) => {
      signal.addEventListener('abort', () => cancelled++);
      return never();
    };
    const start = performance.now();
    await assert.rejects(ask(request, { ms: 60, what: 'the answer' }), is('lost', /60 ms for the answer/));
    assert.ok(performance.now() - start < 1000);
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 20);
    await assert.rejects(ask(request, { ms: 10_000, signal: abort.signal, what: 'it' }), is('cancelled'));
    assert.equal(cancelled, 2);
    await assert.rejects(ask(request, { signal: abort.signal, what: 'it' }), is('cancelled'));
    assert.equal(cancelled, 2);
    await assert.rejects(ask(Promise.reject(new Error('own')), { ms: 10, what: 'it' }), /own/);
  });
});
