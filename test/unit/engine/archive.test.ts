import assert from 'node:assert/strict';
import { ArchiveError } from '../../../extension/archive/archiveError';
import { nextChain, sourceKey } from '../../../extension/archive/canonical';
import { ROOT_CHAIN, type Chain, type EntryId, type TurnId } from '../../../extension/archive/ids';
import type { StoredMessage } from '../../../extension/archive/message';
import { bind, capture, openArchive, prepare, source, talk, text, user } from './conversation';
import { FakeCompactor } from './fakeCompactor';
import { FaultyJournal } from './faultyJournal';
import { digest } from './stateDigest';

const isCode = (code: string) => (e: unknown) => e instanceof ArchiveError && e.code === code;

describe('an archive', () => {
  it('has an acknowledged message in its journal, and not before', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    let open = (): void => {};
    journal.gate = new Promise(resolve => (open = resolve));
    let acknowledged = false;
    const append = archive
      .append({ capture: capture(0), message: user('hello') })
      .then(() => (acknowledged = true));
    await new Promise(resolve => setImmediate(resolve));
    assert.equal(acknowledged, false);
    assert.equal(archive.state.captured(capture(0)), undefined, 'nothing shows before it is stored');
    open();
    await append;
    assert.equal(journal.lines.length, 1);
    assert.match(journal.lines[0] ?? '', /hello/);
    assert.ok(archive.state.captured(capture(0)));
  });

  it('is as it was after a write that failed, and goes on when writing works again', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    await archive.append({ capture: capture(0), message: user('kept') });
    const before = await digest(archive.state);
    journal.failure = new Error('no space left on device');
    await assert.rejects(archive.append({ capture: capture(1), message: user('lost') }), (e: unknown) => {
      assert.ok(isCode('archive')(e));
      assert.match(String(e), /no space left/);
      return true;
    });
    assert.deepEqual(await digest(archive.state), before);
    await archive.append({ capture: capture(1), message: user('again') });
    const reopened = await openArchive(await FaultyJournal.of(journal.lines));
    assert.equal(reopened.readOnly, undefined);
    assert.equal(reopened.state.orphans, 2);
  });

  it('acknowledges a capture sent again without writing it twice', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    const message = user('once');
    await Promise.all([1, 2, 3].map(() => archive.append({ capture: capture(0), message })));
    const reopened = await openArchive(await FaultyJournal.of(journal.lines));
    await reopened.append({ capture: capture(0), message });
    assert.equal(journal.lines.length, 1);
    assert.equal(reopened.state.commits, 1);
  });

  it('acknowledges a message without visible content and keeps nothing of it', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    await archive.append({
      capture: capture(0, 'assistant'),
      message: { role: 'assistant', content: [], stopReason: 'error', timestamp: 1 },
    });
    assert.equal(journal.lines.length, 0);
    const reply = await archive.bind({
      after: ROOT_CHAIN,
      sources: [source('e0', { role: 'user', content: [], timestamp: 1 }), source('e1', user('seen'))],
    });
    assert.deepEqual(reply, { ok: true, chain: nextChain(ROOT_CHAIN, sourceKey(user('seen'))), records: 1 });
  });

  it('never lets thinking into its journal, whatever the types promised', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    const message = {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'SECRET-THOUGHT', thinkingSignature: 'SECRET-SIGNATURE' },
        { type: 'text', text: 'said', textSignature: 'SECRET-SIGNATURE' },
      ],
      stopReason: 'stop',
      timestamp: 1,
    } as unknown as StoredMessage;
    await archive.append({ capture: capture(0, 'assistant'), message });
    await archive.bind({ after: ROOT_CHAIN, sources: [source('e0', message)] });
    assert.equal(journal.lines.length, 2);
    assert.match(journal.lines.join(), /said/);
    assert.doesNotMatch(journal.lines.join(), /SECRET/);
  });

  it('refuses what is no message and writes nothing', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    const bad = { role: 'wizard', content: [] } as unknown as StoredMessage;
    await assert.rejects(archive.append({ capture: capture(0), message: bad }), isCode('invalid'));
    await assert.rejects(
      archive.append({ capture: { marker: '', ordinal: -1, role: '' }, message: user('x') }),
      isCode('invalid'),
    );
    await assert.rejects(
      archive.bind({ after: ROOT_CHAIN, sources: [source('', user('x'))] }),
      isCode('invalid'),
    );
    assert.equal(journal.lines.length, 0);
  });

  it('remembers its mode, and follows the default until somebody chose', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal, { memoryDefault: false });
    assert.equal(archive.memory, false);
    await archive.setMode(true);
    await archive.setMode(true);
    assert.equal(journal.lines.length, 1);
    assert.equal(
      (await openArchive(await FaultyJournal.of(journal.lines), { memoryDefault: false })).memory,
      true,
    );
    await archive.setMode(false);
    await assert.rejects(prepare(archive, 't1', ROOT_CHAIN, new FakeCompactor()), isCode('off'));
  });

  it('tells listeners of each commit, and a listener that throws hurts nobody', async () => {
    const archive = await openArchive();
    const seen: string[] = [];
    archive.onChange(() => {
      throw new Error('a broken listener');
    });
    const stop = archive.onChange(event => seen.push(event.type));
    await archive.append({ capture: capture(0), message: user('a') });
    stop();
    await archive.append({ capture: capture(1), message: user('b') });
    assert.deepEqual(seen, ['commit']);
  });

  it('stores what became of a turn once, and only of a turn it knows', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    await prepare(archive, 't1', await bind(archive, [user('a')]), new FakeCompactor());
    const settled = { turn: 't1' as TurnId, requests: 3, status: 200 };
    assert.equal(archive.state.turn(1)?.sent, undefined);
    await archive.settled(settled);
    const lines = journal.lines.length;
    await archive.settled(settled);
    assert.equal(journal.lines.length, lines);
    assert.deepEqual(archive.state.turn('t1')?.sent, { requests: 3, status: 200 });
    await assert.rejects(archive.settled({ ...settled, turn: 'nope' as TurnId }), isCode('invalid'));
  });
});

describe('binding', () => {
  it('refers to the captured message when the entry holds the same, whatever its time', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    await archive.append({ capture: capture(0), message: user('the same words', 5) });
    const reply = await archive.bind({
      after: ROOT_CHAIN,
      sources: [{ entry: 'e0' as EntryId, capture: capture(0), message: user('the same words', 9) }],
    });
    assert.ok(reply.ok && reply.records === 1);
    assert.equal(journal.lines.join().split('the same words').length - 1, 1, 'the text is stored once');
    assert.equal(archive.state.orphans, 0);
    assert.equal((await archive.zoom({ start: 0, count: 1, offset: 0 })).branch, reply.chain);
  });

  it("takes the entry's message when it differs from the captured one", async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    await archive.append({ capture: capture(0), message: user('as captured') });
    await archive.bind({
      after: ROOT_CHAIN,
      sources: [{ entry: 'e0' as EntryId, capture: capture(0), message: user('as Pi kept it') }],
    });
    assert.equal(await archive.branch().raw(0), 'user: as Pi kept it');
    assert.match(journal.lines.join(), /as captured/, 'the superseded text stays in the journal');
    assert.equal(archive.state.orphans, 0);
  });

  it('finds the message that a killed Pi captured near the place where its entry is, and no other', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    for (const ordinal of [0, 1, 2])
      await archive.append({ capture: capture(ordinal), message: user('same') });
    await archive.append({ capture: capture(3), message: user('another text') });
    const bind = (after: Chain, text: string, ordinal: number) =>
      archive.bind({
        after,
        sources: [{ entry: `e${ordinal}` as EntryId, message: user(text), guess: capture(ordinal) }],
      });
    const first = await bind(ROOT_CHAIN, 'same', 1);
    assert.ok(first.ok);
    assert.equal(archive.state.orphans, 3);
    const second = await bind(first.chain, 'same', 4);
    assert.ok(second.ok);
    assert.equal(archive.state.orphans, 2, 'one capture was bound twice');
    const third = await bind(second.chain, 'a third text', 3);
    const far = third.ok && (await bind(third.chain, 'another text', 9));
    assert.ok(far && far.ok);
    assert.equal(archive.state.orphans, 2);
    assert.equal(far.records, 4);
    assert.equal(journal.lines.join().split('"same"').length - 1, 3, 'a text was stored again');
  });

  it('computes chains itself and answers with them', async () => {
    const archive = await openArchive();
    const messages = [user('a'), talk('b'), user('c')];
    const chain = messages.reduce((at, message) => nextChain(at, sourceKey(message)), ROOT_CHAIN);
    assert.equal(await bind(archive, messages), chain);
    assert.equal(archive.chain, chain);
  });

  it('says which chain or capture it does not know, and then writes nothing', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    const nowhere = 'f'.repeat(32) as Chain;
    assert.deepEqual(await archive.bind({ after: nowhere, sources: [] }), {
      ok: false,
      reason: 'unknown-chain',
    });
    const sources = [source('e0', user('a')), { entry: 'e1' as EntryId, capture: capture(7) }];
    assert.deepEqual(await archive.bind({ after: ROOT_CHAIN, sources }), {
      ok: false,
      reason: 'unknown-capture',
      entry: 'e1',
    });
    assert.equal(journal.lines.length, 0);
  });

  it('writes nothing for what it knows already', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    const messages = [user('a'), talk('b')];
    const chain = await bind(archive, messages);
    const lines = journal.lines.length;
    assert.equal(await bind(archive, messages, ROOT_CHAIN, 'other-entry-ids-'), chain);
    assert.equal(journal.lines.length, lines);
  });

  it('sees an append that was asked for before it', async () => {
    const archive = await openArchive();
    const append = archive.append({ capture: capture(0), message: user('first') });
    const reply = await archive.bind({
      after: ROOT_CHAIN,
      sources: [{ entry: 'e0' as EntryId, capture: capture(0) }],
    });
    await append;
    assert.ok(reply.ok);
  });

  it('does not store a message again that was captured only after it was bound', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    const message = user('bound first');
    await archive.bind({
      after: ROOT_CHAIN,
      sources: [{ entry: 'e0' as EntryId, capture: capture(0), message }],
    });
    await archive.append({ capture: capture(0), message });
    assert.equal(journal.lines.length, 1);
    assert.equal(archive.state.orphans, 0);
  });

  it('keeps commits small enough that one original is cheap to read', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    await bind(
      archive,
      Array.from({ length: 40 }, (_, i) => user(text(`m${i}`, 50_000))),
    );
    assert.ok(journal.lines.length >= 5, `${journal.lines.length} commits`);
    assert.ok(Math.max(...journal.lines.map(line => line.length)) < 400_000);
    assert.equal(await archive.branch().raw(39), `user: ${text('m39', 50_000)}`);
  });
});
