import assert from 'node:assert/strict';
import { mark } from '../support/conversation';
import type { TestHost } from '../support/host';
import { Sandbox } from '../support/pi';
import type { PiEvent, PiRpc } from '../support/piRpc';
import { orphansOf, rememberedIn, storedBeforeLastTurn } from '../support/remembered';
import { Saboteur, type Moment } from '../support/saboteur';

const settled = (event: PiEvent) => event.type === 'agent_settled';
const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

/** After each, a new host serves the same Pi on, with all that was said. */
describe('Esc', () => {
  let box: Sandbox;
  let saboteur: Saboteur;
  let host: TestHost;
  let pi: PiRpc;
  let turn = 0;
  before(async () => {
    box = await Sandbox.make();
    saboteur = Saboteur.join(box);
    host = await box.host();
    pi = box.rpc();
    await pi.prompt(`first ${mark(++turn)} ;; !say kept`);
  });
  after(async () => {
    assert.deepEqual(
      pi.events.filter(event => event.type === 'extension_error'),
      [],
    );
    await pi.close();
    await box.close();
  });

  /** Sends a prompt, waits until its turn hangs, aborts, and gives the milliseconds that took. */
  async function abortWhen(hangs: () => boolean, shows?: RegExp): Promise<number> {
    const from = pi.events.length;
    const before = box.turns.length;
    const answer = pi.send('prompt', { message: `next ${mark(++turn)} ;; !say never ${turn}` });
    for (let i = 0; !hangs(); i++) {
      assert.ok(i < 100, 'the turn never came there');
      await sleep(50);
    }
    if (shows)
      await pi.until('what is awaited', event => shows.test(String(event['statusText'])), 5_000, from);
    else await sleep(700);
    assert.ok(!pi.events.slice(from).some(settled), 'nothing was pending');
    const asked = Date.now();
    await pi.send('abort');
    await answer;
    await pi.until('the end', settled, 12_000, from);
    const took = Date.now() - asked;
    assert.equal(box.turns.length, before, 'a request left');
    return took;
  }

  async function goesOn(): Promise<void> {
    await host.stop();
    host = await box.host();
    await pi.prompt(`on ${mark(++turn)} ;; !say went on`);
    assert.deepEqual(rememberedIn(box.turns.at(-1)), storedBeforeLastTurn(box.sessionFiles[0] ?? ''));
    assert.equal(box.turns.at(-1)?.historyBytes, 0);
    assert.deepEqual(await orphansOf(box.archives[0] ?? ''), []);
  }

  it('while the owner is looked for at a prompt ends the turn when that wait does', async () => {
    await host.freeze();
    const took = await abortWhen(() => true, /waiting for VS Code/);
    assert.ok(took < 8_000, `${took} ms`);
    await goesOn();
  });

  const hold = (moment: Moment, signal: 'SIGSTOP' | 'SIGKILL') => {
    host.assertRunning();
    saboteur.signal(moment, signal, host.pid);
    return () => saboteur.done && host.state !== 'R' && host.state !== 'S';
  };

  it('while what was written between two turns is stored ends the turn at once', async () => {
    const hangs = hold({ hook: 'context', side: 'before' }, 'SIGSTOP');
    await pi.send('bash', { command: 'echo between' });
    const took = await abortWhen(hangs, /waiting until VS Code has stored this step/);
    assert.ok(took < 2_000, `${took} ms`);
    await goesOn();
    assert.match(box.turns.at(-1)?.raw ?? '', /echo between/);
  });

  it('while the view is prepared ends the turn at once', async () => {
    const took = await abortWhen(hold({ hook: 'context', side: 'before' }, 'SIGSTOP'), /memory: preparing/);
    assert.ok(took < 2_000, `${took} ms`);
    await goesOn();
  });

  it('while the prompt is stored ends the turn at once', async () => {
    const took = await abortWhen(
      hold({ hook: 'message_end', role: 'user', side: 'before' }, 'SIGSTOP'),
      /waiting until VS Code has stored this step/,
    );
    assert.ok(took < 2_000, `${took} ms`);
    await goesOn();
  });

  it('while a turn waits for another owner than the one that was killed ends it at once', async () => {
    const took = await abortWhen(hold({ hook: 'message_end', role: 'user', side: 'before' }, 'SIGKILL'));
    assert.ok(took < 2_000, `${took} ms`);
    await goesOn();
  });
});

describe('a hook of another extension that never returns', () => {
  let box: Sandbox;
  let saboteur: Saboteur;
  let turn = 0;
  before(async () => {
    box = await Sandbox.make();
    saboteur = Saboteur.join(box);
    await box.host();
    await box.print(`first ${mark(++turn)} ;; !say kept`);
  });
  after(async () => {
    await box.close();
  });

  for (const moment of [
    { hook: 'context', side: 'before' },
    { hook: 'context_with_system', side: 'after' },
    { hook: 'before_provider_request', side: 'after' },
    { hook: 'message_end', role: 'user', side: 'after' },
  ] as const)
    it(`(${moment.hook}, ${moment.side} ours) lets nothing out after Esc, and loses nothing`, async () => {
      saboteur.hang(moment);
      const before = box.turns.length;
      const hung = box.rpc('-c');
      await hung.start(`hung ${mark(++turn)} ;; !say never ${turn}`);
      for (let i = 0; !saboteur.done; i++) {
        assert.ok(i < 100, 'Pi never came there');
        await sleep(50);
      }
      // Pi itself waits for handlers without a limit: only the person's Esc or the end of Pi is left.
      const aborted = hung.send('abort').catch(() => undefined);
      await sleep(700);
      assert.equal(box.turns.length, before);
      await hung.kill();
      await aborted;
      const { code, stderr } = await box.print('-c', `on ${mark(++turn)} ;; !say went on`);
      assert.equal(code, 0, stderr);
      assert.equal(box.turns.length, before + 1);
      assert.deepEqual(rememberedIn(box.turns.at(-1)), storedBeforeLastTurn(box.sessionFiles[0] ?? ''));
      assert.equal(box.turns.at(-1)?.historyBytes, 0);
    });
});
