import assert from 'node:assert/strict';
import { bind, longConversation, openArchive, prepare, SILENT, user } from './conversation';
import { FakeCompactor } from './fakeCompactor';
import { FaultyJournal } from './faultyJournal';

const OTHER = user('Another way to go on. '.repeat(40));

describe('a session that began as another one', function () {
  this.timeout(60_000);

  it('pays nothing for what that one has summarised, and has the same lines', async () => {
    const parent = new FaultyJournal();
    const first = await openArchive(parent);
    const messages = longConversation(30);
    const whole = await bind(first, messages);
    const calls = new FakeCompactor();
    await prepare(first, 't1', whole, calls);
    assert.ok(calls.requests.length >= 30, `${calls.requests.length} calls`);

    const fork = await openArchive(new FaultyJournal(), { related: () => Promise.resolve([parent.source]) });
    const chain = await bind(fork, messages);
    const none = new FakeCompactor();
    await prepare(fork, 't1', chain, none);
    assert.equal(none.requests.length, 0);
    const [a, b] = [first.branch(whole), fork.branch(chain)];
    assert.equal(b.missing, 0);
    for (let count = 1; count <= a.records; count *= 2)
      for (let start = 0; start + count <= a.records; start += count) {
        const at = { start, count };
        assert.equal(await b.lineText(at), await a.lineText(at));
        assert.deepEqual(await b.modelLine(at), await a.modelLine(at), 'who wrote it is still said');
      }
    assert.deepEqual(fork.state.turn('t1')?.receipt.sha256, first.state.turn('t1')?.receipt.sha256);
  });

  it('pays for what it alone has said, and for nothing before', async () => {
    const parent = new FaultyJournal();
    const first = await openArchive(parent);
    const messages = longConversation(12);
    await prepare(first, 't1', await bind(first, messages), new FakeCompactor());
    const fork = await openArchive(new FaultyJournal(), { related: () => Promise.resolve([parent.source]) });
    const shared = await bind(fork, messages.slice(0, 20));
    const chain = await bind(fork, [OTHER], shared, 'f');
    const calls = new FakeCompactor();
    await prepare(fork, 't1', chain, calls);
    const before = fork.branch(shared).records;
    for (const { system: _, blocks } of calls.requests)
      assert.match(blocks.at(-1) ?? '', /Another way to go on/, 'only lines over what is new');
    assert.ok(calls.requests.length > 0 && calls.requests.length <= 1 + Math.log2(before + 1));
  });

  it('writes its lines itself where the other archive cannot be read, is empty or is foreign', async () => {
    const foreign = new FaultyJournal();
    await bind(await openArchive(foreign), [user('something else')]);
    const said: string[] = [];
    const fork = await openArchive(new FaultyJournal(), {
      log: { ...SILENT, warn: text => void said.push(text) },
      related: () =>
        Promise.resolve([
          foreign.source,
          new FaultyJournal().source,
          { read: () => Promise.reject(new Error('EIO')), frame: () => Promise.reject(new Error('EIO')) },
        ]),
    });
    const chain = await bind(fork, longConversation(3));
    const calls = new FakeCompactor();
    await prepare(fork, 't1', chain, calls);
    assert.ok(calls.requests.length > 0);
    assert.equal(fork.branch(chain).missing, 0);
    assert.deepEqual(said, []);
  });
});
