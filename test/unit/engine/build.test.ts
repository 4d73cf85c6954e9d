import assert from 'node:assert/strict';
import { ArchiveError } from '../../../extension/archive/archiveError';
import type { NodeOp } from '../../../extension/archive/ops';
import type { SummaryReply } from '../../../extension/archive/ports';
import type { Archive } from '../../../extension/archive/archive';
import { bind, longConversation, openArchive, prepare, talk, TestSleep, text, user } from './conversation';
import { contextOf, FakeCompactor, lineFor, reply, targetOf } from './fakeCompactor';
import { FaultyJournal } from './faultyJournal';

const isCode = (code: string) => (e: unknown) => e instanceof ArchiveError && e.code === code;
const failed: SummaryReply = { ok: false, reason: 'the provider is down' };
const tick = () => new Promise(resolve => setImmediate(resolve));

/** The nodes of a journal in the order they were published, as addresses. */
function published(archive: Archive, journal: FaultyJournal): { start: number; count: number }[] {
  return journal.lines.flatMap(line =>
    (JSON.parse(line) as { ops: NodeOp[] }).ops
      .filter(op => op.op === 'node')
      .map(({ end, count }) => {
        const source = archive.state.source(end.chain);
        assert.ok(source);
        return { start: source.first + end.ordinal + 1 - count, count };
      }),
  );
}

/** Resolves calls one by one, in an order of its own. */
class HeldCompactor extends FakeCompactor {
  readonly #held: (() => void)[] = [];
  constructor() {
    super(request => new Promise(resolve => this.#held.push(() => resolve(reply(lineFor(request))))));
  }
  /** Answers the waiting call at `index`; false when there is none. */
  release(index: number): boolean {
    const [one] = this.#held.splice(index % Math.max(1, this.#held.length), 1);
    one?.();
    return one !== undefined;
  }
  get waiting(): number {
    return this.#held.length;
  }
}

describe('building summaries', function () {
  this.timeout(30_000);
  it('runs at most 8 jobs, publishes leaves in order and parents after their children, in whatever order replies come', async () => {
    for (const seed of [1, 2, 3]) {
      const journal = new FaultyJournal();
      const archive = await openArchive(journal);
      const chain = await bind(archive, longConversation(40));
      const compactor = new HeldCompactor();
      let random = seed;
      let done = false;
      const view = prepare(archive, 't1', chain, compactor).finally(() => (done = true));
      while (!done) {
        await tick();
        random = (random * 1103515245 + 12345) % 2 ** 31;
        compactor.release(random);
      }
      await view;
      assert.ok(compactor.mostRunning <= 8, `${compactor.mostRunning} at once`);
      assert.equal(compactor.mostRunning, 8, 'the pool is used');
      const nodes = published(archive, journal);
      const leaves = nodes.filter(a => a.count === 1).map(a => a.start);
      assert.deepEqual(
        leaves,
        [...leaves].sort((a, b) => a - b),
      );
      const seen = new Set<string>();
      for (const { start, count } of nodes) {
        if (count > 1)
          for (const child of [start, start + count / 2]) {
            const line = archive.branch(chain).line({ start: child, count: count / 2 });
            assert.ok(line);
            if (line.method === 'model')
              assert.ok(seen.has(`${child}+${count / 2}`), `${start}+${count} too early`);
          }
        assert.ok(!seen.has(`${start}+${count}`), 'published once');
        seen.add(`${start}+${count}`);
      }
      assert.equal(archive.branch(chain).missing, 0);
    }
  });

  it('starts a parent as soon as both its children exist, without waiting for slower jobs', async () => {
    const archive = await openArchive();
    // Four pairs of short lines, each too long together; then a long record.
    const short = Array.from({ length: 4 }, (_, i) => talk(text(`s${i}`, 400)));
    const chain = await bind(archive, [...short, user(text('long', 2000)), user('end')]);
    const compactor = new HeldCompactor();
    const view = prepare(archive, 't1', chain, compactor);
    await tick();
    await tick();
    const targets = () => compactor.requests.map(request => targetOf(request).slice(0, 8));
    assert.deepEqual(targets(), ['talk: s0', 'talk: s2', 'user: lo']);
    compactor.release(0);
    compactor.release(0);
    for (let i = 0; i < 10; i++) await tick();
    assert.equal(compactor.calls, 4, '0+4 runs while the long record is still waited for');
    while (compactor.waiting > 0) {
      compactor.release(0);
      for (let i = 0; i < 5; i++) await tick();
    }
    await view;
  });

  it('shows a job what came before it and nothing of what comes after', async () => {
    const archive = await openArchive();
    const messages = Array.from({ length: 24 }, (_, i) =>
      user(text(`record-${i}-`, i % 3 === 0 ? 700 : 100)),
    );
    const chain = await bind(archive, messages);
    const compactor = new FakeCompactor(request =>
      reply(`about ${/record-\d+-/.exec(targetOf(request))?.[0] ?? '?'}`),
    );
    await prepare(archive, 't1', chain, compactor);
    let compared = 0;
    for (const request of compactor.requests) {
      const [own] = /(?<=record-)\d+/.exec(targetOf(request)) ?? [];
      if (!targetOf(request).startsWith('user: record-') || targetOf(request).includes('\n')) continue;
      for (const line of contextOf(request)) {
        assert.doesNotMatch(line, /^\d+\+\d+\|/, 'no addresses');
        for (const [, n] of line.matchAll(/record-(\d+)-/g)) {
          assert.ok(Number(n) < Number(own), `${n} before ${own}`);
          compared++;
        }
      }
    }
    assert.ok(compared > 20, 'jobs had a context');
  });

  it('ends at once on cancel, keeps every published line, and asks only for the rest next time', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    const chain = await bind(archive, longConversation(10));
    const full = new FakeCompactor();
    const other = await openArchive();
    await prepare(other, 't1', await bind(other, longConversation(10)), full);
    const stop = new AbortController();
    const deaf = new FakeCompactor((request, call) => {
      if (call <= 5) return reply(lineFor(request));
      if (call === 6) setImmediate(() => stop.abort());
      return new Promise(() => {});
    });
    await assert.rejects(prepare(archive, 't1', chain, deaf, { signal: stop.signal }), isCode('cancelled'));
    assert.ok(deaf.running > 0, 'calls were under way');
    const kept = archive.state.modelLines;
    assert.equal(kept, 5);
    assert.equal(archive.state.turns.length, 0);
    const rest = new FakeCompactor();
    const view = await prepare(archive, 't1', chain, rest);
    assert.equal(rest.calls, full.calls - kept);
    assert.equal(view.records, 40);
  });

  it('hands its signal on, so that calls can end', async () => {
    const archive = await openArchive();
    const chain = await bind(archive, [user(text('long', 2000))]);
    const stop = new AbortController();
    let ended = false;
    const compactor = new FakeCompactor(
      (_request, _call, signal) =>
        new Promise(resolve => {
          signal.addEventListener('abort', () => {
            ended = true;
            resolve(failed);
          });
          setImmediate(() => stop.abort());
        }),
    );
    await assert.rejects(
      prepare(archive, 't1', chain, compactor, { signal: stop.signal }),
      isCode('cancelled'),
    );
    assert.ok(ended);
    await assert.rejects(
      prepare(archive, 't1', chain, compactor, { signal: stop.signal }),
      isCode('cancelled'),
    );
  });

  it('gives up after three failures ten seconds apart, says why, and the next prepare tries again', async () => {
    const { sleep, delays } = new TestSleep();
    const archive = await openArchive(undefined, { sleep });
    const chain = await bind(archive, [user(text('long', 2000)), user('short')]);
    const down = new FakeCompactor(() => failed);
    await assert.rejects(prepare(archive, 't1', chain, down), (e: unknown) => {
      assert.ok(isCode('prepare')(e));
      assert.match(String(e), /the provider is down.*again/);
      return true;
    });
    assert.equal(down.calls, 3);
    assert.deepEqual(delays, [10_000, 10_000]);
    const flaky = new FakeCompactor((request, call) => (call < 3 ? failed : reply(lineFor(request))));
    assert.equal((await prepare(archive, 't1', chain, flaky)).records, 2);
    assert.equal(flaky.calls, 3);
  });

  it('publishes what was paid for when another job fails for good', async () => {
    const archive = await openArchive();
    const chain = await bind(
      archive,
      Array.from({ length: 4 }, (_, i) => user(text(`long-${i}`, 2000))),
    );
    const compactor = new FakeCompactor(request =>
      targetOf(request).includes('long-2') ? failed : reply(lineFor(request)),
    );
    await assert.rejects(prepare(archive, 't1', chain, compactor), isCode('prepare'));
    assert.equal(archive.branch(chain).processed, 2);
    assert.ok(archive.branch(chain).line({ start: 0, count: 2 }), 'the parent of the first two as well');
  });

  it('pays for no further try of other jobs once one has failed for good', async () => {
    const archive = await openArchive();
    const chain = await bind(archive, [user(text('slow', 2000)), user(text('doomed', 2000))]);
    let failures = 0;
    let allFailed = (): void => {};
    const afterFailures = new Promise<void>(resolve => (allFailed = resolve));
    const compactor = new FakeCompactor(async request => {
      if (targetOf(request).includes('doomed')) {
        if (++failures === 3) setImmediate(() => setImmediate(allFailed));
        return failed;
      }
      await afterFailures;
      return reply('x'.repeat(600));
    });
    await assert.rejects(prepare(archive, 't1', chain, compactor), /the provider is down/);
    assert.equal(failures, 3);
    assert.equal(compactor.calls, 4, 'the line that was too long is not asked for again');
  });

  it('reports progress that only grows and ends complete', async () => {
    const archive = await openArchive();
    const chain = await bind(archive, longConversation(10));
    const seen: { done: number; total: number }[] = [];
    await prepare(archive, 't1', chain, new FakeCompactor(), { progress: p => seen.push(p) });
    assert.ok(seen.length > 5);
    assert.equal(seen[0]?.done, 0);
    const last = seen.at(-1);
    assert.equal(last?.done, last?.total);
    for (let i = 1; i < seen.length; i++) assert.ok((seen[i]?.done ?? 0) >= (seen[i - 1]?.done ?? 0));
  });

  it('builds in the background what a settled turn left, and a prompt meanwhile goes on from there', async () => {
    const archive = await openArchive();
    const first = await bind(archive, [user('hello')]);
    const compactor = new FakeCompactor();
    await prepare(archive, 't1', first, compactor);
    const chain = await bind(archive, longConversation(8), first, 'n');
    archive.buildInBackground(chain, compactor);
    const seen: number[] = [];
    const view = await prepare(archive, 't2', chain, compactor, { progress: p => seen.push(p.done) });
    assert.equal(view.records, 33);
    assert.ok(seen.length > 0, 'the waiting prompt sees the progress of the background');
    const texts = compactor.requests.map(request => request.blocks.join(''));
    assert.equal(new Set(texts).size, texts.length, 'nothing was asked for twice');
  });

  it('starts no background call before a prompt has, or after it is told to stop', async () => {
    const archive = await openArchive();
    const compactor = new FakeCompactor();
    const chain = await bind(archive, longConversation(8));
    archive.buildInBackground(chain, compactor);
    await archive.close();
    assert.equal(compactor.calls, 0);
  });
});
