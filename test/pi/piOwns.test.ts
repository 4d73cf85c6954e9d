import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readArchive } from '../../extension/cli/readArchive';
import { mark } from '../support/conversation';
import { Sandbox, outline, viewOf } from '../support/pi';

describe('a Pi whose session no window serves', () => {
  let box: Sandbox;
  beforeEach(async () => {
    box = await Sandbox.make();
  });
  afterEach(async () => {
    await box.close();
  });

  it('owns its archive: remembers, freezes views, writes summaries by its own model, and lets go at its end', async () => {
    const pi = box.rpc();
    await pi.prompt(`first ${'words '.repeat(200)} ${mark(1)} ;; !say one`);
    const [dir] = box.archives;
    assert.ok(dir);
    const holder = JSON.parse(readFileSync(path.join(dir, 'lock'), 'utf8')) as { pid: number };
    assert.equal(holder.pid, pi.pid);
    const second = `second ${mark(2)} ;; !tool read {"path":"a.txt"} ;; !say two`;
    await pi.prompt(second);
    const [, first, last] = box.turns;
    assert.ok(first && last);
    assert.equal(viewOf(first), viewOf(last));
    assert.match(viewOf(first) ?? '', /one/);
    assert.deepEqual(outline(first), ['system', 'view', `user ${second}`]);
    assert.equal(last.historyBytes, 0);
    assert.ok(box.model.requests.some(request => request.compactor));
    assert.deepEqual(
      pi.events.filter(event => event.type === 'extension_error'),
      [],
    );
    assert.equal(await pi.close(), 0);
    assert.equal(readFileSync(path.join(dir, 'lock'), 'utf8'), '');
    const { state } = await readArchive(dir);
    assert.equal(state.branch(state.newest)?.records, 6);
    assert.equal(state.turns.length, 2);
  });
});
