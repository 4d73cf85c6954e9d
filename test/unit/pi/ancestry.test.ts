import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ROOT_CHAIN } from '../../../extension/archive/ids';
import { Ancestry } from '../../../extension/pi/ancestry';
import { Captures, finished } from '../../../extension/pi/capture';
import { reconcile } from '../../../extension/pi/reconcile';
import type { BindRequest } from '../../../extension/archive/requests';
import { ChainOwner } from './chainOwner';
import { operations, perform } from './operations';
import { SessionTree } from './sessionTree';

describe('the ancestry of a live session', () => {
  it('read a bit at a time is what it is read at once, through edits and changes of branch', () => {
    fc.assert(
      fc.property(operations, all => {
        const tree = new SessionTree();
        const followed = new Ancestry(tree);
        for (const operation of all) {
          perform(tree, operation);
          followed.read();
          const fresh = new Ancestry(tree);
          fresh.read();
          assert.deepEqual(followed.chains(), fresh.chains());
        }
      }),
    );
  });

  it('read in pieces is what it is read at once, whatever happens between two pieces', async () => {
    await fc.assert(
      fc.asyncProperty(operations, operations, async (first, meanwhile) => {
        const tree = new SessionTree();
        for (const operation of first) perform(tree, operation);
        const ancestry = new Ancestry(tree);
        const next = [...meanwhile];
        // After each entry, as no time may pass.
        const reading = ancestry.readInPieces(() => {
          const operation = next.shift();
          if (operation) perform(tree, operation);
          if (next.length % 5 === 4) ancestry.read();
        }, 0);
        await reading;
        const fresh = new Ancestry(tree);
        fresh.read();
        assert.deepEqual(ancestry.chains(), fresh.chains());
      }),
    );
  });

  it('brings the owner to the present leaf whatever happened between two reconciliations', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operations, { maxLength: 4 }), async rounds => {
        const tree = new SessionTree();
        const ancestry = new Ancestry(tree);
        const captures = new Captures();
        const owner = new ChainOwner();
        for (const round of rounds) {
          for (const operation of round) perform(tree, operation);
          ancestry.read();
          await reconcile({ ancestry, captures, bind: request => owner.bind(request) });
          const leaf = ancestry.chains().at(-1) ?? ROOT_CHAIN;
          assert.ok(owner.chains.has(leaf));
        }
      }),
    );
  });

  it('is read again at the price of what was added', () => {
    const tree = new SessionTree();
    const ancestry = new Ancestry(tree);
    for (let i = 0; i < 1000; i++) tree.user(`message ${i}`);
    ancestry.read();
    tree.reads = 0;
    tree.assistant('one more');
    ancestry.read();
    assert.ok(tree.reads < 10, `${tree.reads} entries were looked at`);
  });

  it('sends a known owner only what is new', async () => {
    const tree = new SessionTree();
    const ancestry = new Ancestry(tree);
    const captures = new Captures();
    const owner = new ChainOwner();
    const parts = { ancestry, captures, bind: (request: BindRequest) => owner.bind(request) };
    for (let i = 0; i < 50; i++) tree.user(`message ${i}`);
    ancestry.read();
    await reconcile(parts);
    assert.equal(owner.sent, 50);
    tree.assistant('one more');
    ancestry.read();
    await reconcile(parts);
    assert.equal(owner.sent, 51);
  });

  it('finds what another owner holds without sending it again', async () => {
    const tree = new SessionTree();
    const owner = new ChainOwner();
    for (let i = 0; i < 300; i++) tree.user(`message ${i}`);
    const fork = tree.getLeafId();
    const first = new Ancestry(tree);
    first.read();
    await reconcile({ ancestry: first, captures: new Captures(), bind: request => owner.bind(request) });
    tree.user('on the old branch');
    first.read();
    await reconcile({ ancestry: first, captures: new Captures(), bind: request => owner.bind(request) });
    const newest = [...owner.chains.keys()].at(-1) ?? ROOT_CHAIN;
    // Another Pi process, on another branch of the same session.
    tree.navigate(fork);
    tree.user('on the new branch');
    const second = new Ancestry(tree);
    second.read();
    second.ownerHolds(newest);
    owner.requests.length = 0;
    await reconcile({ ancestry: second, captures: new Captures(), bind: request => owner.bind(request) });
    assert.equal(owner.sent, 1);
    assert.ok(owner.requests.length < 12, `${owner.requests.length} requests`);
  });

  it('adopts a session in batches that stay far below the bound of a message', async () => {
    const tree = new SessionTree();
    for (let i = 0; i < 30; i++) tree.user(`${i} ${'é'.repeat(250_000)}`);
    const ancestry = new Ancestry(tree);
    ancestry.read();
    const owner = new ChainOwner();
    await reconcile({ ancestry, captures: new Captures(), bind: request => owner.bind(request) });
    assert.equal(owner.sent, 30);
    for (const request of owner.requests)
      assert.ok(Buffer.byteLength(JSON.stringify(request)) < 5 * 1024 * 1024);
  });

  it('binds what was captured by reference, and sends the text when the owner lost it or Pi changed it', async () => {
    const tree = new SessionTree();
    const ancestry = new Ancestry(tree);
    const captures = new Captures();
    const owner = new ChainOwner();
    const announce = (text: string, ordinal: number) => {
      const message = {
        role: 'user' as const,
        content: [{ type: 'text' as const, text }],
        timestamp: ordinal,
      };
      const done = finished(message, 'm', ordinal);
      assert.ok(done);
      captures.acknowledged(message, done);
      return { message, done };
    };
    const kept = announce('kept', 0);
    owner.captured.set(JSON.stringify(kept.done.request.capture), kept.done.request.message);
    tree.add({ type: 'message', message: kept.message });
    const lost = announce('lost', 1);
    tree.add({ type: 'message', message: lost.message });
    const changed = announce('changed', 2);
    owner.captured.set(JSON.stringify(changed.done.request.capture), changed.done.request.message);
    changed.message.content = [{ type: 'text', text: 'changed by another extension' }];
    tree.add({ type: 'message', message: changed.message });
    ancestry.read();
    await reconcile({ ancestry, captures, bind: request => owner.bind(request) });
    const [first, second] = owner.requests;
    assert.equal(first?.sources[0]?.message, undefined);
    assert.equal(first?.sources[1]?.message, undefined);
    assert.deepEqual(
      second?.sources.map(source => [source.capture !== undefined, source.message !== undefined]),
      [
        [true, false],
        [false, true],
        [true, true],
      ],
    );
    assert.ok(owner.chains.has(ancestry.chains().at(-1) ?? ROOT_CHAIN));
  });

  it('knows a compaction after an entry, and only after it', () => {
    const tree = new SessionTree();
    tree.user('old');
    tree.compaction();
    const marker = tree.marker();
    tree.user('new');
    const ancestry = new Ancestry(tree);
    ancestry.read();
    assert.equal(ancestry.compactedAfter(marker), false);
    tree.compaction();
    ancestry.read();
    assert.equal(ancestry.compactedAfter(marker), true);
  });

  it('changes the chain before a marker when earlier history is edited, and not when the turn is', () => {
    const tree = new SessionTree();
    const old = tree.user('old');
    const marker = tree.marker();
    tree.user('new');
    const failed = tree.assistant('half a reply', 'error');
    const ancestry = new Ancestry(tree);
    ancestry.read();
    const before = ancestry.chainBefore(marker);
    tree.edit(failed, null);
    ancestry.read();
    assert.equal(ancestry.chainBefore(marker), before);
    tree.edit(old, 'rewritten');
    ancestry.read();
    assert.notEqual(ancestry.chainBefore(marker), before);
  });
});
