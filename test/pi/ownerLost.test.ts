import assert from 'node:assert/strict';
import { mark } from '../support/conversation';
import {
  assertNoErrors,
  footerIn,
  onlyArchive,
  ownerOf,
  recordsOf,
  settled,
  startTool,
  viewBytes,
} from '../support/owner';
import { Sandbox, outline, viewOf } from '../support/pi';
import { reasonIn, type PiRpc } from '../support/piRpc';

const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

/** Three steps: a slow tool, a quick one, and the answer. */
const LOOP = `loop ${mark(2)} ;; !tool bash {"command":"sleep 1.2; echo slow"} ;; !tool read {"path":"a.txt"} ;; !say done`;

describe('a turn whose owner goes away', () => {
  let box: Sandbox;
  let pi: PiRpc;
  beforeEach(async () => {
    box = await Sandbox.make();
  });
  afterEach(async () => {
    await pi.close();
    await box.close();
  });

  /** The turn went on as if nothing had happened: every step once, on one view, all of it stored. */
  async function assertWhole(): Promise<void> {
    const [, first, second, third, ...more] = box.turns;
    assert.ok(first && second && third);
    assert.equal(more.length, 0);
    assert.match(viewOf(first) ?? '', /remembered/);
    for (const request of [second, third]) assert.equal(viewBytes(request), viewBytes(first));
    assert.deepEqual(outline(third), [
      'system',
      'view',
      `user ${LOOP}`,
      'assistant bash{"command":"sleep 1.2; echo slow"}',
      'tool slow\n',
      'assistant read{"path":"a.txt"}',
      'tool content of a.txt\n',
    ]);
    const records = await recordsOf(onlyArchive(box));
    assert.equal(records.filter(text => text.includes('slow\n')).length, 1);
    for (const said of ['remembered', LOOP, 'content of a.txt', 'done'])
      assert.ok(
        records.some(text => text.includes(said)),
        said,
      );
    assertNoErrors(pi);
  }

  it('by a kill finishes with the next window, on the same view, and nothing is lost', async () => {
    const host = await box.host();
    pi = box.rpc();
    await pi.prompt(`first ${mark(1)} ;; !say remembered`);
    const from = await startTool(pi, LOOP);
    await host.kill();
    await pi.until('the wait', event => /waiting up to 30 s/.test(String(event['statusText'])), 8_000, from);
    assert.match(footerIn(pi), /Esc ends the turn/);
    await sleep(2_000);
    assert.equal(box.turns.length, 2, 'nothing is sent while nobody stores it');
    const next = await box.host();
    await settled(pi, from);
    assert.equal(ownerOf(onlyArchive(box)), next.pid);
    await assertWhole();
  });

  it('by a reload of its window finishes, on the same view, and nothing is lost', async () => {
    const host = await box.host();
    pi = box.rpc();
    await pi.prompt(`first ${mark(1)} ;; !say remembered`);
    const from = await startTool(pi, LOOP);
    host.assertRunning();
    await host.stop();
    await box.host();
    await settled(pi, from);
    await assertWhole();
  });

  it('while its memory is prepared gets it from the next window', async () => {
    let hang = true;
    const slow = await Sandbox.make({
      summarize: () => (hang ? { kind: 'hang' } : undefined),
    });
    try {
      const host = await slow.host();
      pi = slow.rpc();
      await pi.prompt(`long ${'words '.repeat(200)} ${mark(1)} ;; !say one`);
      const from = pi.events.length;
      await pi.start(`second ${mark(2)} ;; !say two`);
      await pi.until('the wait', event => /preparing/.test(String(event['statusText'])), 10_000, from);
      await sleep(300);
      await host.kill();
      hang = false;
      await slow.host();
      await settled(pi, from);
      assert.match(viewOf(slow.turns.at(-1) ?? assert.fail()) ?? '', /\|talk: one/);
      assert.equal(slow.turns.at(-1)?.historyBytes, 0);
    } finally {
      await slow.close();
    }
  });

  it('is taken over at once by another window of the folder', async () => {
    const host = await box.host();
    pi = box.rpc();
    await pi.prompt(`first ${mark(1)} ;; !say remembered`);
    const other = await box.host();
    const from = await startTool(pi, LOOP);
    assert.equal(ownerOf(onlyArchive(box)), host.pid, 'the lock stays with who holds it');
    await host.kill();
    await settled(pi, from);
    assert.equal(ownerOf(onlyArchive(box)), other.pid);
    await assertWhole();
  });

  it('waits for nobody after an abort, sends nothing more, and Pi owns from the next prompt on', async () => {
    const host = await box.host();
    pi = box.rpc();
    await pi.prompt(`first ${mark(1)} ;; !say remembered`);
    const from = await startTool(pi, LOOP);
    const before = box.turns.length;
    await host.kill();
    await pi.until('the wait', event => /waiting up to 30 s/.test(String(event['statusText'])), 8_000, from);
    const asked = Date.now();
    await pi.send('abort');
    await settled(pi, from, 5_000);
    assert.ok(Date.now() - asked < 2_000, `${Date.now() - asked} ms`);
    assert.equal(box.turns.length, before);
    const prompt = `next ${mark(3)} ;; !say served by Pi`;
    await pi.prompt(prompt);
    const request = box.turns.at(-1) ?? assert.fail();
    assert.equal(box.turns.length, before + 1);
    assert.deepEqual(outline(request), ['system', 'view', `user ${prompt}`]);
    assert.match(viewOf(request) ?? '', /remembered[^]*loop[^]*slow/);
    assert.equal(ownerOf(onlyArchive(box)), pi.pid);
    assertNoErrors(pi);
  });

  it('between two turns has a moment to be reloaded before Pi owns its session', async () => {
    const host = await box.host();
    pi = box.rpc();
    await pi.prompt(`first ${mark(1)} ;; !say remembered`);
    await host.stop();
    const from = pi.events.length;
    // Pi answers once the owner is settled.
    const started = pi.start('second ;; !say two');
    await sleep(1_500);
    assert.equal(box.turns.length, 1);
    const next = await box.host();
    await started;
    await settled(pi, from);
    assert.equal(ownerOf(onlyArchive(box)), next.pid);
    assert.match(viewOf(box.turns.at(-1) ?? assert.fail()) ?? '', /remembered/);
    assertNoErrors(pi);
  });

  it('leaves an idle session that the next window shows again without a prompt, with what was said meanwhile', async () => {
    const host = await box.host();
    pi = box.rpc();
    await pi.prompt(`first ${mark(1)} ;; !say remembered`);
    const from = pi.events.length;
    host.assertRunning();
    await host.kill();
    await pi.until('the loss', event => /went away; looking/.test(String(event['statusText'])), 8_000, from);
    await pi.send('bash', { command: 'echo alone' });
    const next = await box.host();
    const back = (event: { readonly [name: string]: unknown }) =>
      /memory: on, [1-9]/.test(String(event['statusText']));
    await pi.until('the next window', back, 8_000, from);
    assert.equal(ownerOf(onlyArchive(box)), next.pid);
    assert.match((await recordsOf(onlyArchive(box))).join(), /remembered.*alone/s);
    assert.equal(box.turns.length, 1, 'nothing was asked of the model');
    await pi.prompt(`second ${mark(2)} ;; !say two`);
    assert.match(viewOf(box.turns.at(-1) ?? assert.fail()) ?? '', /remembered[^]*alone/);
    assertNoErrors(pi);
  });

  it('stops after 30 s with nothing more sent, and a window that was closed for good is not missed afterwards', async () => {
    const host = await box.host();
    pi = box.rpc();
    await pi.prompt(`first ${mark(1)} ;; !say remembered`);
    const from = await startTool(pi, LOOP);
    const before = box.turns.length;
    await host.stop();
    const lost = Date.now();
    await settled(pi, from, 45_000);
    assert.ok(Date.now() - lost > 28_000, `${Date.now() - lost} ms`);
    assert.equal(box.turns.length, before);
    assert.match(reasonIn(pi.events.slice(from)), /was not back within 30 s.*\/strata off/);
    assert.equal(ownerOf(onlyArchive(box)), undefined, 'Pi takes nothing over inside a turn');
    await pi.prompt(`next ${mark(3)} ;; !say served by Pi`);
    assert.equal(ownerOf(onlyArchive(box)), pi.pid);
    assert.match(viewOf(box.turns.at(-1) ?? assert.fail()) ?? '', /remembered[^]*slow/);
    assertNoErrors(pi);
  });
});
