import assert from 'node:assert/strict';
import { mark } from '../support/conversation';
import { archiveToBe, lockedBy } from '../support/lockHolder';
import { Sandbox, outline, viewOf } from '../support/pi';
import { reasonIn, type PiEvent, type PiRpc } from '../support/piRpc';

const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

const footerIn = (pi: PiRpc) =>
  String(pi.events.findLast(event => event['method'] === 'setStatus')?.['statusText']);

describe('a turn that memory cannot serve', () => {
  let box: Sandbox;
  beforeEach(async () => {
    box = await Sandbox.make();
  });
  afterEach(async () => {
    await box.close();
  });

  /** A turn whose only tool call takes 1.5 s; resolves while the tool runs. */
  async function startSlowTool(pi: PiRpc, turn: number): Promise<number> {
    const from = pi.events.length;
    await pi.start(`slow ${mark(turn)} ;; !tool bash {"command":"sleep 1.5; echo slow"} ;; !say never`);
    await pi.until('the tool', event => event.type === 'tool_execution_start', 15_000, from);
    return from;
  }

  it('sends nothing more when the host is killed inside a tool, says why, and goes on with a new host', async () => {
    const host = await box.host();
    const pi = box.rpc();
    await pi.prompt(`first ${mark(1)} ;; !say remembered`);
    const from = await startSlowTool(pi, 2);
    const before = box.turns.length;
    await host.kill();
    await pi.until('the end', event => event.type === 'agent_settled', 45_000, from);
    assert.equal(box.turns.length, before);
    assert.match(
      reasonIn(pi.events.slice(from)),
      /Memory failed, so this request was not sent\..* went away and was not back within 30 s.*\/strata off/,
    );
    assert.match(footerIn(pi), /stopped/);
    assert.ok(pi.isRunning);

    const next = await box.host();
    const prompt = `again ${mark(4)} ;; !say fine`;
    await pi.prompt(prompt);
    const request = box.turns.at(-1);
    assert.ok(request);
    assert.deepEqual(outline(request), ['system', 'view', `user ${prompt}`]);
    assert.equal(request.historyBytes, 0);
    // The turn that was stopped is remembered with the result that came after the kill.
    assert.match(viewOf(request) ?? '', /remembered[^]*slow/);

    // Nothing runs: the loss is shown, and Pi lives on.
    await next.kill();
    await pi.until('the loss', event => /VS Code went away/.test(String(event['statusText'])), 5_000);
    assert.ok(pi.isRunning);
    assert.deepEqual(
      pi.events.filter(event => event.type === 'extension_error'),
      [],
    );
    await pi.close();
  });

  it('is freed by an abort while an acknowledgement is pending, and sends nothing more', async () => {
    const host = await box.host();
    const pi = box.rpc();
    const from = await startSlowTool(pi, 1);
    const before = box.turns.length;
    await host.freeze();
    await pi.until('the tool’s end', event => event.type === 'tool_execution_end', 10_000, from);
    await sleep(700);
    const settled = (event: PiEvent) => event.type === 'agent_settled';
    assert.ok(!pi.events.slice(from).some(settled), 'nothing was pending');
    const asked = Date.now();
    await pi.send('abort');
    await pi.until('the end', settled, 8_000, from);
    assert.ok(Date.now() - asked < 2_000, `${Date.now() - asked} ms`);
    assert.equal(box.turns.length, before);
    assert.ok(pi.isRunning);
    await pi.close();
  });

  it('is freed by an abort while it waits for a summary, and sends nothing', async () => {
    const slow = await Sandbox.make({ summarize: () => ({ kind: 'hang' }) });
    try {
      await slow.host();
      const pi = slow.rpc();
      await pi.prompt(`long ${'words '.repeat(200)} ;; !say one`);
      const from = pi.events.length;
      await pi.start('second ;; !say never');
      await pi.until(
        'the wait',
        event => /memory: preparing/.test(String(event['statusText'])),
        10_000,
        from,
      );
      const asked = Date.now();
      await pi.send('abort');
      await pi.until('the end', event => event.type === 'agent_settled', 8_000, from);
      assert.ok(Date.now() - asked < 2_000, `${Date.now() - asked} ms`);
      assert.equal(slow.turns.length, 1);
      assert.ok(slow.model.requests.some(request => request.compactor));
      await pi.close();
    } finally {
      await slow.close();
    }
  });

  it('is refused after 5 s when the host has stopped answering between two turns', async () => {
    const host = await box.host();
    const pi = box.rpc();
    await pi.prompt('first ;; !say fine');
    const before = box.turns.length;
    await host.freeze();
    const asked = Date.now();
    const events = await pi.prompt('second ;; !say no');
    assert.ok(Date.now() - asked < 12_000, `${Date.now() - asked} ms`);
    assert.equal(box.turns.length, before);
    assert.match(
      reasonIn(events),
      /nothing was sent to the model\. VS Code does not answer\. Reload its window\./,
    );
    await pi.close();
  });

  it('exits with 1 and the reason in print mode', async () => {
    const other = await lockedBy(archiveToBe(box, 'a-session'));
    const { code, stderr } = await box.print('--session-id', 'a-session', `anybody? ${mark(1)}`);
    assert.equal(code, 1);
    assert.match(stderr, /Memory is not available.*owned by another process \(pid \d+\)/s);
    assert.equal(box.turns.length, 0);
    await other.kill();
  });

  it('says on the screen of Pi why it was stopped, and Esc ends a wait', async function () {
    this.timeout(120_000);
    const requests = async (count: number) => {
      for (let i = 0; box.turns.length < count; i++) {
        assert.ok(i < 100, `${box.turns.length} requests, not ${count}`);
        await sleep(100);
      }
    };
    const host = await box.host();
    const screen = await box.tui();
    await screen.until(/memory: on, 0 records/);
    await screen.type('slow ;; !tool bash {"command":"sleep 1.5; echo slow"} ;; !say never');
    await screen.press('Enter');
    await requests(1);
    await sleep(500);
    await host.kill();
    const shown = await screen.until(/Memory failed, so this request was not sent/, 45_000);
    assert.match(shown.replace(/\s+/g, ' '), /memory: stopped this turn/);
    assert.equal(box.turns.length, 1);

    const second = await box.host();
    await screen.type('back ;; !tool bash {"command":"sleep 1; echo quick"} ;; !say served again');
    await screen.press('Enter');
    await requests(2);
    await sleep(300);
    await second.freeze();
    await sleep(1_500);
    await screen.press('Escape');
    await screen.until(/Operation aborted|aborted/i);
    assert.equal(box.turns.length, 2);
    await second.stop();

    await box.host();
    await screen.type('last ;; !say all is well');
    await screen.press('Enter');
    await screen.until(/all is well.*memory: on/);
  });
});
