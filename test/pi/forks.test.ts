import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { mark } from '../support/conversation';
import { Sandbox } from '../support/pi';
import type { PiRpc } from '../support/piRpc';
import { rememberedIn } from '../support/remembered';

const FILES = 90;

/** A session whose records are too long for a line of their own, so that each line costs a call. */
describe('a session that is forked from a long one', function () {
  this.timeout(240_000);
  let box: Sandbox;
  let pi: PiRpc;
  let parent: string;
  const calls = () => box.model.requests.filter(request => request.compactor).length;
  before(async () => {
    box = await Sandbox.make({ contextWindow: 200_000 });
    await box.host();
    for (let i = 0; i < FILES; i++) {
      const words = `file ${i} says `.repeat(200).slice(0, 600 + ((i * 397) % 2400));
      writeFileSync(path.join(box.project, `f${i}.txt`), `${words}\n`);
    }
    pi = box.rpc();
    for (let turn = 0; turn < 3; turn++) {
      const reads = Array.from({ length: FILES / 3 }, (_, i) => ['read', { path: `f${turn * 30 + i}.txt` }]);
      await pi.prompt(
        `turn ${turn} ${mark(turn + 1)} ;; !tools ${JSON.stringify(reads)} ;; !say read`,
        120_000,
      );
    }
    await pi.prompt(`last ${mark(4)} ;; !say all is read`, 120_000);
    parent = (((await pi.send('get_state'))['data'] ?? {}) as { sessionFile: string }).sessionFile;
    assert.ok(calls() >= 150, `${calls()} calls`);
  });
  after(() => box.close());

  it('by /clone starts with all its lines and no call', async () => {
    const before = calls();
    await pi.send('clone');
    await pi.prompt(`in the clone ${mark(5)} ;; !say cloned`, 60_000);
    assert.equal(calls() - before, 0);
    assert.equal(box.archives.length, 2);
    const request = box.turns.at(-1);
    assert.equal(rememberedIn(request).length > 0 && request?.historyBytes, 0);
  });

  it('by /fork at an earlier prompt makes no call for what it shares', async () => {
    await pi.send('switch_session', { sessionPath: parent });
    const { data } = await pi.send('get_fork_messages');
    const { messages } = data as { messages: { entryId: string; text: string }[] };
    const at = messages.find(({ text }) => text.startsWith('turn 2')) ?? assert.fail();
    const before = calls();
    await pi.send('fork', { entryId: at.entryId });
    await pi.prompt(`in the fork ${mark(6)} ;; !say forked`, 60_000);
    assert.equal(calls() - before, 0);
    assert.equal(box.archives.length, 3);
    assert.equal(box.turns.at(-1)?.historyBytes, 0);
    const shown = rememberedIn(box.turns.at(-1)).join('\n');
    assert.match(shown, /turn 1/);
    assert.doesNotMatch(shown, /turn 2/);
  });

  it('by copying its file to another project makes no call for what it shares', async () => {
    await pi.close();
    const other = path.join(box.dir, 'other');
    mkdirSync(other);
    const copy = path.join(other, 'copy.jsonl');
    copyFileSync(parent, copy);
    const before = calls();
    const there = box.rpcIn(other, '--session', copy);
    await there.prompt(`in the copy ${mark(7)} ;; !say copied`, 60_000);
    await there.close();
    assert.equal(calls() - before, 0);
    assert.equal(box.turns.at(-1)?.historyBytes, 0);
  });
});
