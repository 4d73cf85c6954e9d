import assert from 'node:assert/strict';
import fc from 'fast-check';
import { nextChain, sourceKey } from '../../../extension/archive/canonical';
import { ROOT_CHAIN, type Chain } from '../../../extension/archive/ids';
import { Partition, partsOfRuns, runsOf } from '../../../extension/archive/partition';
import { areTiled, continueMark, EMPTY_MARK } from '../../../extension/archive/partitionMark';
import { bind, longConversation, openArchive, prepare, user } from './conversation';
import { FakeCompactor } from './fakeCompactor';
import { FaultyJournal } from './faultyJournal';
import { digest } from './stateDigest';

describe('a branch', function () {
  this.timeout(60_000);

  it('that others have pushed out of memory shows every line that was built since', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    const stem = await bind(archive, longConversation(4));
    const forks: Chain[] = [];
    for (let i = 0; i < 8; i++) forks.push(await bind(archive, [user(`fork ${i}`)], stem, `f${i}-`));
    const [first = ROOT_CHAIN] = forks;
    const kept = archive.branch(first);
    assert.ok(kept.missing > 0);
    const before = kept.processed;
    for (const chain of forks) assert.equal(archive.branch(chain).processed, before);
    await prepare(archive, 't1', first, new FakeCompactor());
    for (const chain of forks.slice(1))
      assert.ok(archive.branch(chain).processed > before, 'they share the stem');
    assert.equal(kept.missing, 0);
    assert.equal(kept.processed, kept.records);
    const reopened = await openArchive(await FaultyJournal.of(journal.lines));
    assert.deepEqual(await digest(archive.state), await digest(reopened.state));
  });

  it('that gets ready in pieces lets others run, and shows a line that was built meanwhile', async () => {
    const journal = new FaultyJournal();
    const messages = [
      user('long '.repeat(200)),
      ...Array.from({ length: 9_000 }, (_, i) => user(`said ${i}`)),
    ];
    const chain = await bind(await openArchive(journal), messages);
    const { state } = await openArchive(await FaultyJournal.of(journal.lines));
    const end = { chain: nextChain(ROOT_CHAIN, sourceKey(messages[0] ?? assert.fail())), ordinal: 0 };
    const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0 };
    const by = { model: 'm', promptVersion: 1, attempts: 1, usage, at: 1 };
    const node = { op: 'node', end, count: 1, text: 'a line', oversized: false, clipped: false, by } as const;
    let ready = false;
    const getting = state.ready(chain).then(() => (ready = true));
    await new Promise(resolve => setImmediate(resolve));
    assert.ok(!ready, 'it takes more than one piece');
    assert.equal(state.apply({ n: state.commits, at: 1, ops: [node] }, { offset: 0, length: 1 }), undefined);
    assert.ok(!ready, 'it was built meanwhile');
    await getting;
    assert.equal(state.branch(chain)?.processed, messages.length);
    assert.equal(state.branch(chain)?.line({ start: 0, count: 1 })?.method, 'model');
  });

  it('counts what is missing in the middle of a path as on a path of its own', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    const chains: Chain[] = [];
    let chain: Chain = ROOT_CHAIN;
    for (let i = 0; i < 12; i++)
      chains.push((chain = await bind(archive, longConversation(1, `${i} `), chain, `e${i}-`)));
    await prepare(archive, 't1', chains[6] as Chain, new FakeCompactor());
    for (const at of chains) {
      const alone = await openArchive(await FaultyJournal.of(journal.lines));
      assert.deepEqual(
        [archive.branch(at).missing, archive.branch(at).built, archive.branch(at).processed],
        [alone.branch(at).missing, alone.branch(at).built, alone.branch(at).processed],
      );
    }
  });
});

describe('a partition as a commit left it', () => {
  it('goes on from run lengths as the partition itself does, and refuses what does not fit', () => {
    const turn = fc.record({
      more: fc.nat(40),
      high: fc.integer({ min: 200, max: 4000 }),
      wrong: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 8 }), turns => {
        const partition = new Partition();
        let mark = EMPTY_MARK;
        for (const { more, high, wrong } of turns) {
          for (let i = 0; i < more; i++) partition.append({ start: partition.total, count: 1 }, 60);
          const { merges } = partition.evaluate(high, () => 60);
          const pairs = merges.map(({ start, count }) => [start, count] as const);
          const { target, revision, total } = partition;
          const op = { op: 'partition', base: ROOT_CHAIN, chain: ROOT_CHAIN, target, revision } as const;
          if (wrong && pairs.length > 0)
            assert.equal(
              continueMark(mark, total, { ...op, merges: [...pairs, ...pairs.slice(-1)] }),
              undefined,
            );
          const next = continueMark(mark, total, { ...op, merges: pairs });
          assert.deepEqual(next, { runs: runsOf(partition), target, revision });
          assert.ok(areTiled(next.runs));
          assert.equal(continueMark(next, total - 1, { ...op, merges: [] }), undefined);
          mark = next;
        }
      }),
    );
  });

  it('tiles where its parts do', () => {
    const runs = fc.array(fc.tuple(fc.nat(4), fc.integer({ min: 1, max: 5 })), { maxLength: 6 });
    fc.assert(
      fc.property(runs, list => {
        let tiles = true;
        try {
          partsOfRuns(list);
        } catch {
          tiles = false;
        }
        assert.equal(areTiled(list), tiles);
      }),
    );
  });
});
