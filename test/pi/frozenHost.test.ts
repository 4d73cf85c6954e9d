import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { TestHost } from '../support/host';
import { Sandbox } from '../support/pi';
import type { Terminal } from '../support/tmux';

const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));
const WAITS = /memory: waiting until VS Code has stored this step … Esc ends the turn/;

/** Judged by Pi's screen and by what the model server received. */
describe('a host that freezes inside a turn', () => {
  let box: Sandbox;
  let host: TestHost;
  let screen: Terminal;
  beforeEach(async () => {
    box = await Sandbox.make();
    host = await box.host();
    screen = await box.tui();
    await screen.until(/memory: on, 0 records/);
  });
  afterEach(async () => {
    await box.close();
  });

  const made = (name: string) => existsSync(path.join(box.project, name));
  const until = async (what: string, look: () => boolean) => {
    for (let i = 0; !look(); i++) {
      assert.ok(i < 150, `not within 15 s: ${what}`);
      await sleep(100);
    }
  };
  /** What the screen shows, its row breaks as spaces. */
  const shown = async () => (await screen.screen()).replace(/\s+/g, ' ');
  const send = async (prompt: string) => {
    await screen.type(prompt);
    await screen.press('Enter');
  };

  it('with the result of a tool pending: the screen says what is awaited, and Esc ends the turn and says why', async () => {
    await send('work ;; !tool bash {"command":"touch begun; sleep 1.5; touch ended"} ;; !say never');
    await until('the tool runs', () => made('begun'));
    assert.ok(!made('ended'));
    await host.freeze();
    assert.ok(!made('ended'), 'the host froze after the tool, not inside it');
    await until('the tool ends', () => made('ended'));

    await screen.until(WAITS, 5_000);
    await sleep(1_000);
    assert.match(await shown(), WAITS);
    assert.equal(host.state, 'T');
    assert.equal(box.turns.length, 1);

    await screen.press('Escape');
    const ended = await screen.until(/memory: the turn ended while it waited for VS Code/, 2_000);
    assert.doesNotMatch(ended.replace(/\s+/g, ' '), WAITS);
    await screen.until(/aborted/i, 2_000);
    await sleep(1_500);
    assert.equal(box.turns.length, 1);
    assert.doesNotMatch(await shown(), /never$/m);

    // Pi is usable: while the host is frozen a prompt is refused, with the reason; then all of it is made up for.
    await send('frozen? ;; !say no');
    await screen.until(/waiting for VS Code/, 5_000);
    await screen.until(/nothing was sent to the model\. VS Code does not answer/, 10_000);
    assert.equal(box.turns.length, 1);
    await host.stop();
    await box.host();
    await send('thawed? ;; !say all is well');
    await screen.until(/all is well.*memory: on/);
    assert.equal(box.turns.length, 2);
    assert.match(box.turns[1]?.raw ?? '', /touch begun/, 'the memory has the step that was pending');
    assert.equal(box.turns[1]?.historyBytes, 0);
  });

  it('with a reply pending: past the time limit the turn stops with the reason, its tool never runs', async () => {
    await send('work ;; !slow 500 ;; !tool bash {"command":"touch ran"} ;; !say never');
    await until('the reply is under way', () => box.turns.length === 1);
    await host.freeze();
    const frozen = Date.now();
    await screen.until(WAITS);
    assert.ok(!made('ran'));

    await screen.until(/Memory failed, so this request was not sent\./, 45_000);
    assert.ok(Date.now() - frozen > 25_000, 'it gave up long before its limit');
    const text = await screen.until(/memory: stopped this turn/);
    const flat = text.replace(/\s+/g, ' ');
    assert.match(flat, /Waited 30 s for VS Code to store this step in vain\./);
    assert.match(flat, /\/strata off/);
    assert.equal(host.state, 'T');
    await sleep(1_500);
    assert.ok(!made('ran'), 'a tool ran after the archive had failed');
    assert.equal(box.turns.length, 1);
  });
});
