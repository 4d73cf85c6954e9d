import assert from 'node:assert/strict';
import { readArchive } from '../../extension/cli/readArchive';
import { assertNoErrors, onlyArchive, ownerOf } from '../support/owner';
import { Sandbox, outline, viewOf } from '../support/pi';
import type { PiRpc } from '../support/piRpc';

/**
 * Pi has no lock on a session file. Each Pi goes on from the leaf it knows, so two of them make two branches of one
 * tree; whoever reads the file later is on the branch of its last line (spec/pi.md 0, fact 7).
 */
describe('two Pis on one session file', () => {
  let box: Sandbox;
  let one: PiRpc;
  let two: PiRpc;
  beforeEach(async () => {
    box = await Sandbox.make();
  });
  afterEach(async () => {
    await one.close();
    await two.close();
    await box.close();
  });

  const view = () => viewOf(box.turns.at(-1) ?? assert.fail()) ?? '';

  /** Turns of both, in turn and at the same time; each must see its own branch and nothing of the other's. */
  async function interleave(): Promise<void> {
    one = box.rpc();
    await one.prompt('common beginning ;; !say common answer');
    two = box.rpc('--session', box.sessionFiles.at(-1) ?? assert.fail());
    // It has read the file.
    await two.send('get_state');
    await one.prompt('one-a ;; !say from one-a');
    await two.prompt('two-a ;; !say from two-a');
    assert.match(view(), /common answer/);
    assert.doesNotMatch(view(), /one-a/);
    await one.prompt('one-b ;; !tool read {"path":"a.txt"} ;; !say from one-b');
    assert.match(view(), /common answer[^]*from one-a/);
    assert.doesNotMatch(view(), /two-a/);

    // At once: the tool's step of one lies around the whole turn of the other.
    const from = one.events.length;
    const before = box.turns.length;
    await one.start('one-c ;; !tool bash {"command":"sleep 1; echo slow"} ;; !say from one-c');
    await two.prompt('two-b ;; !tool strata_memory {"action":"search","query":"from"} ;; !say from two-b');
    await one.until('the end', event => event.type === 'agent_settled', 20_000, from);
    const during = box.turns.slice(before);
    assert.equal(during.length, 4);
    for (const request of during) {
      const lines = outline(request);
      assert.deepEqual(lines.slice(0, 2), ['system', 'view']);
      const mine = lines[2]?.includes('one-c') ? 'one' : 'two';
      const other = mine === 'one' ? 'two' : 'one';
      // The view, the live turn, and what the memory tool found: all of one branch.
      assert.match(viewOf(request) ?? '', new RegExp(`common answer[^]*from ${mine}-a`));
      assert.doesNotMatch(JSON.stringify(request.conversation.said), new RegExp(`from ${other}-[ab]`));
      assert.equal(request.historyBytes, 0);
    }
    const found = during.at(-1)?.conversation.said.concat(during.at(-2)?.conversation.said ?? []);
    assert.match(JSON.stringify(found), /from two-a/, 'the memory tool found something');

    // Nothing of either is lost: the archive holds both branches, and the next Pi has the last one as its history.
    const { state } = await readArchive(onlyArchive(box));
    const texts = JSON.stringify([...box.archived.matchAll(/from (?:one|two)-[abc]/g)].map(([text]) => text));
    for (const text of ['one-a', 'one-b', 'one-c', 'two-a', 'two-b'])
      assert.match(texts, new RegExp(`from ${text}`));
    assert.equal(state.orphans, 0);
    const last = box.rpc('--session', box.sessionFiles.at(-1) ?? assert.fail());
    await last.prompt('last ;; !say whose');
    assert.match(view(), /common answer[^]*from (?:one-c|two-b)/);
    assert.ok(!(/from one-/.test(view()) && /from two-/.test(view())), 'two branches in one view');
    await last.close();
    for (const pi of [one, two]) assertNoErrors(pi);
  }

  it('both get their own branch from one window, and nothing is lost or mixed', async () => {
    const host = await box.host();
    await interleave();
    assert.equal(ownerOf(onlyArchive(box)), host.pid);
  });

  it('both get their own branch from the Pi that owns it, and nothing is lost or mixed', async () => {
    await interleave();
    assert.equal(ownerOf(onlyArchive(box)), one.pid);
  });

  it('the one that was served owns the session once the other has ended, and remembers all of its branch', async () => {
    one = box.rpc();
    await one.prompt('common ;; !say common answer');
    two = box.rpc('--session', box.sessionFiles.at(-1) ?? assert.fail());
    await two.prompt('two-a ;; !say from two-a');
    assert.equal(ownerOf(onlyArchive(box)), one.pid);
    await one.close();
    await two.prompt('two-b ;; !say from two-b');
    assert.equal(ownerOf(onlyArchive(box)), two.pid);
    assert.match(view(), /common answer[^]*from two-a/);
    assertNoErrors(two);
  });
});
