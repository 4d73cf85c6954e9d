import assert from 'node:assert/strict';
import fc from 'fast-check';
import { verifyState } from '../../../extension/archive/verify';
import { rebuildView } from '../../../extension/archive/frozenText';
import { ArchiveFollower } from '../../../extension/archive/follower';
import { ROOT_CHAIN, type Chain, type TurnId } from '../../../extension/archive/ids';
import { parseCommit } from '../../../extension/archive/parseCommit';
import { bind, capture, longConversation, openArchive, prepare, text, user } from './conversation';
import { FakeCompactor } from './fakeCompactor';
import { FaultyJournal } from './faultyJournal';
import { History, step } from './history';
import { digest } from './stateDigest';

describe('replaying a journal', function () {
  this.timeout(60_000);
  it('leads to the state that wrote it, for the owner and for whoever follows, after any history', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async steps => {
        const journal = new FaultyJournal();
        const archive = await openArchive(journal, { viewBytes: 4096 });
        const follower = new ArchiveFollower(journal.source);
        const history = new History(archive);
        for (const one of steps) {
          await history.happen(one);
          await follower.refresh();
        }
        await follower.refresh();
        const expected = await digest(archive.state);
        assert.deepEqual(await digest(follower.state), expected);
        const reopened = await openArchive(await FaultyJournal.of(journal.lines));
        assert.equal(reopened.readOnly, undefined);
        assert.deepEqual(await digest(reopened.state), expected);
        assert.ok(
          (expected as { turns: { view: { verified: boolean } }[] }).turns.every(turn => turn.view.verified),
          'every frozen view can be rebuilt',
        );
      }),
      { numRuns: 60 },
    );
  });

  // D4 7.
  it('ends where a line is missing, doubled, swapped or of another archive, and keeps what stands before', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    let chain: Chain = ROOT_CHAIN;
    for (let i = 0; i < 6; i++) chain = await bind(archive, [user(`message ${i}`)], chain, `e${i}`);
    const { lines } = journal;
    const other = new FaultyJournal();
    await bind(await openArchive(other), [user('elsewhere')]);
    const foreign = (other.lines[0] ?? '').replace('"n":0', '"n":3').replace(ROOT_CHAIN, 'a'.repeat(32));
    const damaged: Record<string, string[]> = {
      missing: [...lines.slice(0, 3), ...lines.slice(4)],
      doubled: [...lines.slice(0, 3), lines[2] ?? '', ...lines.slice(3)],
      swapped: [...lines.slice(0, 3), lines[4] ?? '', lines[3] ?? '', ...lines.slice(5)],
      foreign: [...lines.slice(0, 3), foreign],
      unreadable: [...lines.slice(0, 3), '{"n":3,"at":1,"ops":[{"op":"later"}]}', ...lines.slice(4)],
      tampered: [...lines.slice(0, 3), (lines[3] ?? '').replace('message 3', 'message 8')],
    };
    for (const [what, wrong] of Object.entries(damaged)) {
      const copy = await FaultyJournal.of(wrong);
      const opened = await openArchive(copy);
      assert.ok(opened.readOnly, what);
      assert.equal(opened.state.commits, 3, what);
      const follower = new ArchiveFollower(copy.source);
      await follower.refresh();
      assert.equal(follower.tail.state, 'damaged', what);
      assert.equal(follower.state.commits, 3, what);
      assert.equal(await follower.refresh(), false, what);
    }
  });

  it('does not pass off another text as the one that was sent', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    const chain = await bind(archive, longConversation(3));
    await prepare(archive, 't1', chain, new FakeCompactor());
    const forged = journal.lines.map(line =>
      line.replace(/"sha256":"[0-9a-f]{64}"/, `"sha256":"${'0'.repeat(64)}"`),
    );
    assert.notDeepEqual(forged, journal.lines);
    const opened = await openArchive(await FaultyJournal.of(forged));
    const turn = opened.state.turn(1);
    assert.ok(turn);
    assert.equal((await rebuildView(opened.state, turn.receipt)).verified, false);
    await assert.rejects(prepare(opened, 't1', chain, new FakeCompactor()), /can no longer be rebuilt/);
    const { faults, originals, views } = await verifyState(opened.state);
    assert.deepEqual([originals, views, faults.length], [12, 1, 1]);
    assert.match(faults[0]?.text ?? '', /turn 1 \(t1\)/);
    assert.deepEqual((await verifyState(archive.state)).faults, []);
  });

  it('notices an original that is no longer what its key says', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    await bind(archive, [user(text('original', 2000))]);
    const read = journal.read.bind(journal);
    journal.read = async ref => (await read(ref)).replace('original', 'tampered');
    await assert.rejects(
      archive.zoom({ start: 0, count: 1, offset: 0 }),
      /does not hold the message it held/,
    );
    assert.equal((await verifyState(archive.state)).faults.length, 1);
  });

  it('refuses receipts and partitions that do not fit their records', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    const chain = await bind(archive, longConversation(3));
    await prepare(archive, 't1', chain, new FakeCompactor());
    const last = journal.lines.at(-1) ?? '';
    const before = journal.lines.slice(0, -1);
    const forged = [
      last.replace(/"parts":\[\[0,12\]\]/, '"parts":[[0,11]]'),
      last.replace(/"parts":\[\[0,12\]\]/, '"parts":[[0,1],[1,5],[0,1]]'),
      last.replace(/"parts":\[\[0,12\]\]/, '"parts":[[1,6]]'),
      last.replace(/"parts":\[\[0,12\]\]/, '"parts":[[0,9007199254740991],[0,9007199254740991]]'),
      last.replace('"merges":[]', '"merges":[[1,2]]'),
      last.replace('"merges":[]', '"merges":[[0,4]]'),
      last.replace('"records":12', '"records":13'),
    ];
    for (const line of forged) {
      assert.notEqual(line, last, 'the forgery changed something');
      const opened = await openArchive(await FaultyJournal.of([...before, line]));
      assert.ok(opened.readOnly, line.slice(0, 300));
      assert.equal(opened.state.turns.length, 0);
    }
  });
});

describe('a journal line', () => {
  it('is a commit or nothing, whatever it holds', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const commit = parseCommit(JSON.stringify({ n: 0, at: 1, ops: [value] }));
        assert.ok(commit === undefined || commit.ops.length === 1);
      }),
    );
    for (const json of ['', 'null', '[]', '{"n":0}', '{"n":-1,"at":1,"ops":[]}', '{"n":0,"at":1,"ops":{}}'])
      assert.equal(parseCommit(json), undefined, json);
    assert.deepEqual(parseCommit('{"n":0,"at":1,"ops":[]}'), { n: 0, at: 1, ops: [] });
  });

  it('is none when one field of one op is wrong', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    await archive.append({ capture: capture(0), message: user('a') });
    await prepare(archive, 't1', await bind(archive, longConversation(2)), new FakeCompactor());
    await archive.settled({ turn: 't1' as TurnId, requests: 1, status: null });
    await archive.setMode(true);
    const kinds = new Set<string>();
    for (const line of journal.lines) {
      assert.ok(parseCommit(line));
      const { n, at, ops } = JSON.parse(line) as { n: number; at: number; ops: Record<string, unknown>[] };
      for (const op of ops) {
        kinds.add(String(op['op']));
        for (const field of Object.keys(op)) {
          // A message may be absent where a capture stands for it; that is another valid op.
          const wrong = { ...op, [field]: { unexpected: true } };
          assert.equal(
            parseCommit(JSON.stringify({ n, at, ops: [wrong] })),
            undefined,
            `${String(op['op'])}.${field}`,
          );
        }
      }
    }
    assert.deepEqual([...kinds].sort(), ['bind', 'message', 'mode', 'node', 'partition', 'receipt', 'sent']);
  });
});
