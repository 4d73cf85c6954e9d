import assert from 'node:assert/strict';
import { ArchiveError } from '../../../extension/archive/archiveError';
import { sha256Hex } from '../../../extension/archive/canonical';
import { rebuildView } from '../../../extension/archive/frozenText';
import { ROOT_CHAIN, type Chain } from '../../../extension/archive/ids';
import { partsOfRuns } from '../../../extension/archive/partition';
import type { FrozenView } from '../../../extension/archive/requests';
import { bind, longConversation, MODEL, openArchive, prepare, talk, text, user } from './conversation';
import { FakeCompactor, lineFor, reply } from './fakeCompactor';
import { FaultyJournal } from './faultyJournal';
import { digest } from './stateDigest';

const isCode = (code: string) => (e: unknown) => e instanceof ArchiveError && e.code === code;
const textOf = (view: FrozenView) => view.blocks.join('');

describe('preparing a turn', function () {
  this.timeout(30_000);
  it('freezes a view with lines of every method and merged lines, rebuilt byte for byte from the journal', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    const chain = await bind(archive, longConversation(60));
    const view = await prepare(archive, 't1', chain, new FakeCompactor());
    assert.ok(view.bytes <= 32_001 && view.bytes > 10_000, `${view.bytes} bytes`);
    assert.equal(Buffer.byteLength(textOf(view)), view.bytes);
    assert.equal(sha256Hex(textOf(view)), view.sha256);
    assert.equal(view.records, 240);

    const reopened = await openArchive(await FaultyJournal.of(journal.lines));
    const turn = reopened.state.turn(1);
    assert.ok(turn);
    const rebuilt = await rebuildView(reopened.state, turn.receipt);
    assert.ok(rebuilt.verified);
    assert.equal(rebuilt.text, textOf(view));
    assert.deepEqual(rebuilt.blocks, view.blocks);
    const parts = partsOfRuns(turn.receipt.parts);
    const methods = new Set(parts.map(a => reopened.branch(chain).line(a)?.method));
    assert.deepEqual([...methods].sort(), ['concat', 'model', 'verbatim']);
    assert.ok(parts.some(a => a.count > 1) && parts.length >= 40);
  });

  it('gives the same turn the same view however often it is asked, without another call or commit', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    const chain = await bind(archive, longConversation(10));
    const compactor = new FakeCompactor();
    const first = await prepare(archive, 't1', chain, compactor);
    const { calls } = compactor;
    const lines = journal.lines.length;
    // Also by a smaller model: a receipt is for the whole turn.
    const model = { ...MODEL, window: 20_000 };
    assert.deepEqual(await prepare(archive, 't1', chain, compactor, { model }), first);
    const reopened = await openArchive(await FaultyJournal.of(journal.lines));
    assert.deepEqual(await prepare(reopened, 't1', chain, compactor), first);
    assert.equal(compactor.calls, calls);
    assert.equal(journal.lines.length, lines);
  });

  it('gives two requests for one turn at once one receipt, and two turns one after the other', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    const chain = await bind(archive, longConversation(12));
    const compactor = new FakeCompactor();
    const views = await Promise.all(
      ['t1', 't1', 't2', 't1'].map(turn => prepare(archive, turn, chain, compactor)),
    );
    assert.deepEqual(views[1], views[0]);
    assert.deepEqual(views[3], views[0]);
    assert.equal(views[2]?.sha256, views[0]?.sha256);
    assert.deepEqual(
      archive.state.turns.map(turn => turn.id),
      ['t1', 't2'],
    );
    const long = new Set(compactor.requests.map(request => request.blocks.join('')));
    assert.equal(long.size, compactor.calls, 'nothing was summarised twice');
    const reopened = await openArchive(await FaultyJournal.of(journal.lines));
    assert.deepEqual(await digest(reopened.state), await digest(archive.state));
  });

  it('stops a turn whose earlier history changed, and says to submit it again', async () => {
    const archive = await openArchive();
    const chain = await bind(archive, [user('a'), talk('b')]);
    const edited = await bind(archive, [user('A'), talk('b')]);
    const compactor = new FakeCompactor();
    await prepare(archive, 't1', chain, compactor);
    await assert.rejects(prepare(archive, 't1', edited, compactor), (e: unknown) => {
      assert.ok(isCode('prepare')(e));
      assert.match(String(e), /history changed.*submit/i);
      return true;
    });
    assert.equal((await prepare(archive, 't2', edited, compactor)).records, 2);
  });

  it('sends nothing while nothing is remembered, and that turn counts all the same', async () => {
    const archive = await openArchive();
    const view = await prepare(archive, 't1', ROOT_CHAIN, new FakeCompactor());
    assert.deepEqual(view.blocks, []);
    assert.equal(view.bytes, 0);
    const chain = await bind(archive, [user('hello')]);
    await prepare(archive, 't2', chain, new FakeCompactor());
    assert.equal(archive.state.turn(2)?.id, 't2');
    assert.equal(archive.state.turn('t1')?.number, 1);
  });

  it('needs no model for a conversation of short records', async () => {
    const archive = await openArchive();
    const compactor = new FakeCompactor();
    const chain = await bind(archive, [user('one'), talk('two'), user('three'), talk('four')]);
    const view = await prepare(archive, 't1', chain, compactor);
    assert.equal(compactor.calls, 0);
    assert.equal(
      textOf(view),
      '<chat>\n0+1|user: one\n1+1|talk: two\n2+1|user: three\n3+1|talk: four\n</chat>',
    );
  });

  it('only appends between batches: earlier blocks of the next turn are the same bytes', async () => {
    const archive = await openArchive();
    const compactor = new FakeCompactor();
    let chain: Chain = ROOT_CHAIN;
    let before: readonly string[] = [];
    let appended = 0;
    for (let turn = 0; turn < 30; turn++) {
      chain = await bind(archive, longConversation(2, `turn ${turn} `), chain, `t${turn}-`);
      const { blocks } = await prepare(archive, `t${turn}`, chain, compactor);
      const same = before.slice(0, -1).every((block, i) => block === blocks[i]);
      if (same) appended++;
      before = blocks;
    }
    assert.ok(appended >= 25, `${appended} of 30 turns only appended`);
    const revision = archive.state.mark(chain).mark.revision;
    assert.ok(revision >= 1 && revision <= 5, `merged ${revision} times`);
  });

  it('coarsens for a smaller model and never splits again for a larger one', async () => {
    const archive = await openArchive();
    const compactor = new FakeCompactor();
    const chain = await bind(archive, longConversation(40));
    const large = await prepare(archive, 't1', chain, compactor, { model: { ...MODEL, window: 200_000 } });
    const small = await prepare(archive, 't2', chain, compactor, { model: { ...MODEL, window: 20_000 } });
    const again = await prepare(archive, 't3', chain, compactor, { model: { ...MODEL, window: 200_000 } });
    assert.ok(small.bytes <= 20_000 && small.bytes < large.bytes);
    assert.equal(textOf(again), textOf(small));
  });

  it('refuses a model without room for a view, and limits that are no numbers', async () => {
    const archive = await openArchive();
    const chain = await bind(archive, [user('a')]);
    const compactor = new FakeCompactor();
    await assert.rejects(
      prepare(archive, 't1', chain, compactor, { model: { ...MODEL, window: 4000 } }),
      isCode('prepare'),
    );
    await assert.rejects(
      prepare(archive, 't1', chain, compactor, { model: { ...MODEL, window: NaN } }),
      isCode('invalid'),
    );
    await assert.rejects(prepare(archive, 't1', 'f'.repeat(32) as Chain, compactor), isCode('invalid'));
    assert.equal(archive.state.turns.length, 0);
  });

  it('stores partition and receipt in one commit, and neither when that fails', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal, { viewBytes: 4096 });
    const chain = await bind(
      archive,
      Array.from({ length: 40 }, (_, i) => user(text(`m${i}`, 200))),
    );
    const compactor = new FakeCompactor();
    await prepare(archive, 'warm', await bind(archive, [user('x')]), compactor);
    // The write that fails is the one after the last summary.
    const stop = archive.onChange(event => {
      if (event.type === 'commit' && archive.branch(chain).missing === 0)
        journal.failure = new Error('disk full');
    });
    await assert.rejects(prepare(archive, 't1', chain, compactor), isCode('archive'));
    stop();
    assert.equal(archive.state.turns.length, 1, 'only the first turn is frozen');
    await prepare(archive, 't1', chain, compactor);
    const ops = (JSON.parse(journal.lines.at(-1) ?? '') as { ops: { op: string }[] }).ops.map(op => op.op);
    assert.deepEqual(ops, ['partition', 'receipt']);
    const reopened = await openArchive(await FaultyJournal.of(journal.lines));
    assert.equal(reopened.readOnly, undefined);
    assert.deepEqual(await digest(reopened.state), await digest(archive.state));
  });

  it('asks for nothing again on a branch that shares a prefix', async () => {
    const archive = await openArchive();
    const compactor = new FakeCompactor();
    const shared = longConversation(8);
    const main = await bind(archive, [...shared, user('go left')]);
    await prepare(archive, 't1', main, compactor);
    const before = compactor.calls;
    assert.ok(before > 10);
    const fork = await bind(archive, [...shared, user('go right')]);
    const view = await prepare(archive, 't2', fork, compactor);
    assert.match(textOf(view), /go right/);
    assert.doesNotMatch(textOf(view), /go left/);
    assert.equal(compactor.calls, before, 'shared lines are shared');
    // Back on the old branch everything is there still.
    await prepare(archive, 't3', main, compactor);
    assert.equal(compactor.calls, before);
  });

  it('completes a fork that was made while its shared lines were still missing', async () => {
    const archive = await openArchive();
    const shared = Array.from({ length: 8 }, (_, i) => user(text(`m${i}`, 400)));
    const left = await bind(archive, [...shared, ...longConversation(20, 'left ')]);
    const stop = new AbortController();
    const stopping = new FakeCompactor((request, call) => {
      if (call < 3) return reply(lineFor(request));
      stop.abort();
      return new Promise(() => {});
    });
    await assert.rejects(
      prepare(archive, 't1', left, stopping, { signal: stop.signal }),
      isCode('cancelled'),
    );
    assert.ok(archive.branch(left).missing > 0);
    const right = await bind(archive, [...shared, user('right')]);
    const view = await prepare(archive, 't2', right, new FakeCompactor());
    assert.equal(view.records, 9);
    assert.equal(view.bytes, Buffer.byteLength(textOf(view)));
    const fresh = await openArchive();
    const same = await prepare(
      fresh,
      't',
      await bind(fresh, [...shared, user('right')]),
      new FakeCompactor(),
    );
    assert.equal(textOf(view), textOf(same), 'what the other branch left behind plays no part');
  });

  it('gives a turn in the middle of a branch the view that was frozen there', async () => {
    const archive = await openArchive();
    const compactor = new FakeCompactor();
    const early = await bind(archive, longConversation(20));
    const first = await prepare(archive, 't1', early, compactor, { model: { ...MODEL, window: 20_000 } });
    const late = await bind(archive, longConversation(30, 'more '), early, 'f');
    await prepare(archive, 't2', late, compactor, { model: { ...MODEL, window: 20_000 } });
    const back = await prepare(archive, 't3', early, compactor, { model: { ...MODEL, window: 20_000 } });
    assert.equal(textOf(back), textOf(first));
  });

  it('serves nothing from a journal that is damaged, but can be read', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    const chain = await bind(archive, [user('before the damage')]);
    await prepare(archive, 't1', chain, new FakeCompactor());
    const damaged = await openArchive(await FaultyJournal.of([...journal.lines, '{"n":99,"at":1,"ops":[]}']));
    assert.match(damaged.readOnly ?? '', /commit 2 expected, commit 99 found/);
    assert.equal(await damaged.branch(chain).raw(0), 'user: before the damage');
    await assert.rejects(prepare(damaged, 't2', chain, new FakeCompactor()), isCode('archive'));
    await assert.rejects(bind(damaged, [user('x')]), isCode('archive'));
    await assert.rejects(damaged.setMode(false), isCode('archive'));
  });
});
