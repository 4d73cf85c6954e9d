import assert from 'node:assert/strict';
import { readArchive } from '../../extension/cli/readArchive';
import { Sandbox, outline, viewOf } from '../support/pi';

const RELOAD = `
export default pi => pi.registerCommand('again', {
  description: 'reloads every extension',
  handler: async (_args, ctx) => ctx.reload(),
});
`;

describe('a Pi that changes sessions', () => {
  let box: Sandbox;
  beforeEach(async () => {
    box = await Sandbox.make({ models: [{ id: 'demo-2' }] });
    box.addExtension('reload', RELOAD);
    await box.host();
  });
  afterEach(async () => {
    await box.close();
  });

  it('has one memory for each of them', async () => {
    const pi = box.rpc();
    await pi.prompt('in the first ;; !say one');
    const { data } = await pi.send('get_state');
    const { sessionFile } = data as { sessionFile: string };
    assert.equal((await pi.send('new_session'))['success'], true);
    await pi.prompt('in the second ;; !say two');
    assert.deepEqual(outline(box.turns.at(-1) ?? assert.fail()), [
      'system',
      'user in the second ;; !say two',
    ]);
    await pi.prompt('still the second ;; !say three');
    assert.doesNotMatch(viewOf(box.turns.at(-1) ?? assert.fail()) ?? '', /first/);
    await pi.send('switch_session', { sessionPath: sessionFile });
    await pi.prompt('back ;; !say four');
    const view = viewOf(box.turns.at(-1) ?? assert.fail()) ?? '';
    assert.match(view, /in the first/);
    assert.doesNotMatch(view, /second/);
    assert.equal(box.archives.length, 2);
    // A clone is a session of its own that remembers what it was cloned from.
    await pi.send('clone');
    await pi.prompt('the clone ;; !say five');
    assert.match(viewOf(box.turns.at(-1) ?? assert.fail()) ?? '', /in the first[^]*back/);
    assert.equal(box.archives.length, 3);
    assert.deepEqual(
      pi.events.filter(event => event.type === 'extension_error'),
      [],
    );
    await pi.close();
  });

  it('keeps the view of a running turn through /reload and /model', async () => {
    const pi = box.rpc();
    await pi.prompt('first ;; !say one');
    const from = pi.events.length;
    await pi.start(
      'second ;; !tool bash {"command":"sleep 1; echo slow"} ;; !tool read {"path":"a.txt"} ;; !say two',
    );
    await pi.until('the tool', event => event.type === 'tool_execution_start', 10_000, from);
    await pi.send('set_model', { provider: 'demo', modelId: 'demo-2' });
    await pi.send('prompt', { message: '/again' });
    await pi.until('the end', event => event.type === 'agent_settled', 20_000, from);
    const [, first, second, third] = box.turns;
    assert.ok(first && second && third);
    assert.equal(third.conversation.model, 'demo-2');
    assert.ok(viewOf(first) !== undefined);
    assert.equal(viewOf(second), viewOf(first));
    assert.equal(viewOf(third), viewOf(first));
    assert.deepEqual(outline(third).slice(2), [
      'user second ;; !tool bash {"command":"sleep 1; echo slow"} ;; !tool read {"path":"a.txt"} ;; !say two',
      'assistant bash{"command":"sleep 1; echo slow"}',
      'tool slow\n',
      'assistant read{"path":"a.txt"}',
      'tool content of a.txt\n',
    ]);
    // Pi 1.6 reloads between turns only, so here for sure.
    await pi.send('prompt', { message: '/again' });
    await pi.prompt('third ;; !say three');
    assert.match(viewOf(box.turns.at(-1) ?? assert.fail()) ?? '', /slow[^]*content of a\.txt[^]*two/);
    assert.deepEqual(
      pi.events.filter(event => event.type === 'extension_error' && event['event'] !== 'command'),
      [],
    );
    await pi.close();
  });

  it('remembers without a session file for as long as it runs', async () => {
    const pi = box.rpc('--no-session');
    await pi.prompt('first ;; !say one');
    await pi.prompt('second ;; !say two');
    assert.match(viewOf(box.turns.at(-1) ?? assert.fail()) ?? '', /first/);
    await pi.close();
    assert.equal(box.archives.length, 0);
    assert.equal(box.sessionFiles.length, 0);
  });

  it('binds shell commands and images of the person, which no event announces as finished', async () => {
    const pi = box.rpc();
    await pi.prompt('first ;; !say one');
    await pi.send('bash', { command: 'echo by hand' });
    const image = {
      type: 'image',
      mimeType: 'image/png',
      data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    };
    const from = pi.events.length;
    await pi.send('prompt', { message: 'second ;; !say two', images: [image] });
    await pi.until('the end', event => event.type === 'agent_settled', 15_000, from);
    await pi.prompt('third ;; !say three');
    assert.match(viewOf(box.turns.at(-1) ?? assert.fail()) ?? '', /\|echo: Ran `echo by hand`[^]*by hand/);
    assert.match(viewOf(box.turns.at(-1) ?? assert.fail()) ?? '', /\|user: second ;; !say two \[image\]/);
    const { state } = await readArchive(box.archives[0] ?? assert.fail());
    // The image itself is in the archive once, and not in the view.
    assert.equal(state.branch(state.newest)?.records, 7);
    assert.doesNotMatch(box.turns.at(-1)?.raw ?? '', /iVBORw0KGgo/);
    await pi.close();
  });
});
