import assert from 'node:assert/strict';
import { ROOT_CHAIN, type TurnId } from '../../../extension/archive/ids';
import type { Progress } from '../../../extension/archive/requests';
import type { PiSide } from '../../../extension/link/protocol';
import { anOwner, APPEND, ENTRY, pause, PREPARE, SUMMARY, until } from './pieces';
import { is, never, useLink } from './useLink';

describe('The link', function () {
  this.timeout(20_000);
  const { scratch, serve, join } = useLink();

  it('carries every request of Pi to its owner and every answer back', async () => {
    const seen: unknown[] = [];
    const note =
      <T>(answer: T) =>
      async (request: unknown) => {
        seen.push(request);
        return answer;
      };
    const plain = anOwner();
    await serve(() =>
      anOwner({
        append: note(undefined),
        settled: note(undefined),
        setMode: note(undefined),
        bind: async r => {
          seen.push(r);
          return plain.bind(r);
        },
      }),
    );
    const owner = await join();
    assert.equal(owner.host.pid, process.pid);
    assert.deepEqual(await owner.open(), await plain.open());
    assert.equal(await owner.append(APPEND), undefined);
    const bind = { after: ROOT_CHAIN, sources: [{ entry: ENTRY, message: APPEND.message }] };
    assert.deepEqual(await owner.bind(bind), { ok: true, chain: ROOT_CHAIN, records: 1 });
    assert.deepEqual(await owner.prepare(PREPARE, () => undefined, new AbortController().signal), {
      turn: PREPARE.turn,
      records: 1,
      blocks: ['é\n', 'b'],
      bytes: 4,
      sha256: 'f'.repeat(64),
    });
    const settled = { turn: 't' as TurnId, requests: 2, status: null };
    await owner.settled(settled);
    await owner.setMode(false);
    assert.deepEqual(seen, [APPEND, bind, settled, false]);
    const zoom = { start: 1, count: 2, offset: 0, chain: ROOT_CHAIN };
    assert.deepEqual(await owner.zoom(zoom), { text: JSON.stringify(zoom) });
    assert.deepEqual(await owner.date({ start: 4 }), { text: '{"start":4}' });
    assert.deepEqual(await owner.search({ query: 'ü', from: 0 }), { text: '{"query":"ü","from":0}' });
    assert.deepEqual(await owner.status(), { records: 3 });
  });

  it('starts requests in the order they were sent', async () => {
    const order: number[] = [];
    await serve(() => anOwner({ append: async r => void order.push(r.capture.ordinal) }));
    const owner = await join();
    const numbers = Array.from({ length: 200 }, (_, i) => i);
    await Promise.all(
      numbers.map(ordinal => owner.append({ ...APPEND, capture: { ...APPEND.capture, ordinal } })),
    );
    assert.deepEqual(order, numbers);
  });

  it('shows the progress of a preparation to the one who asked', async () => {
    await serve(() =>
      anOwner({
        prepare: async (request, progress, signal) => {
          for (const done of [0, 1, 2]) progress({ done, total: 2 });
          return anOwner().prepare(request, progress, signal);
        },
      }),
    );
    const owner = await join();
    const seen: Progress[] = [];
    await owner.prepare(PREPARE, p => seen.push(p), new AbortController().signal);
    assert.deepEqual(seen, [
      { done: 0, total: 2 },
      { done: 1, total: 2 },
      { done: 2, total: 2 },
    ]);
  });

  it('cancels on both sides', async () => {
    let fired = 0;
    await serve(() =>
      anOwner({
        prepare: (_, __, signal) => {
          signal.addEventListener('abort', () => fired++);
          return never();
        },
      }),
    );
    const owner = await join();
    const abort = new AbortController();
    const preparing = owner.prepare(PREPARE, () => undefined, abort.signal);
    await pause(50);
    assert.equal(fired, 0);
    abort.abort();
    await assert.rejects(preparing, is('cancelled'));
    await until('the owner is told', () => fired === 1);
    await owner.append(APPEND);
  });

  it('hands the owner summaries from Pi, cancels them, and counts a lost Pi as a failed summary', async () => {
    let side: PiSide | undefined;
    await serve(piSide => {
      side = piSide;
      return anOwner();
    });
    let fired = 0;
    const link = await join({
      pi: {
        summarize: (request, signal) => {
          signal.addEventListener('abort', () => fired++);
          return request.system === 'wait' ? never() : Promise.resolve(SUMMARY);
        },
      },
    });
    assert.ok(side);
    const request = { system: 's', blocks: ['b'], retries: [], maxOutputTokens: 10, timeoutMs: 10_000 };
    const signal = new AbortController().signal;
    assert.deepEqual(await side.summarize(request, signal), SUMMARY);
    const abort = new AbortController();
    const waiting = side.summarize({ ...request, system: 'wait' }, abort.signal);
    await pause(50);
    abort.abort();
    assert.equal((await waiting).ok, false);
    await until('Pi is told', () => fired === 1);
    const lost = side.summarize({ ...request, system: 'wait' }, signal);
    await pause(50);
    link.dispose();
    assert.equal((await lost).ok, false);
    assert.equal((await side.summarize(request, signal)).ok, false);
  });

  it('serves a folder from the moment it is set', async () => {
    const server = await serve(() => anOwner(), []);
    await assert.rejects(join(), is('lost', /No VS Code window/));
    await server.setFolders([scratch()]);
    await (await join()).append(APPEND);
  });
});
