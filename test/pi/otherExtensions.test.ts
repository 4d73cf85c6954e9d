import assert from 'node:assert/strict';
import { readArchive } from '../../extension/cli/readArchive';
import { Sandbox, outline, viewOf, type Received } from '../support/pi';
import type { PiEvent, PiRpc } from '../support/piRpc';

/** Another extension of the user's, that does what the newest prompt says in capitals. */
const OTHER = `
export default pi => {
  let prompt = '';
  const asked = word => prompt.includes(word);
  const tool = name => ({
    name, label: name, description: 'A tool of another extension.', parameters: { type: 'object', properties: {} },
    execute: async () => ({ content: [{ type: 'text', text: 'other' }], details: undefined }),
  });
  pi.on('before_agent_start', event => {
    prompt = event.prompt ?? '';
    if (asked('LATE')) pi.registerTool(tool('late_tool'));
    if (asked('HELD')) return { message: { customType: 'other', content: 'a note that rides along', display: false } };
  });
  pi.on('context', event => {
    if (asked('REMIND'))
      return { messages: [...event.messages, { role: 'user', content: [{ type: 'text', text: 'REMINDER' }], timestamp: 1 }] };
    if (asked('DROP')) return { messages: event.messages.slice(0, -1) };
  });
  pi.on('message_end', event => {
    if (asked('REWRITE') && event.message.role === 'assistant')
      return { message: { ...event.message, content: [{ type: 'text', text: 'rewritten by another' }] } };
  });
  pi.on('turn_end', (event, ctx) => {
    if (event.toolResults.length === 0) return;
    const first = ctx.sessionManager.getBranch().find(entry => entry.type === 'message' && entry.message.role === 'user');
    if (asked('COMPACT')) return { entries: [{ type: 'compaction', summary: 'short', firstKeptEntryId: null }] };
    if (asked('EDIT')) return { entries: [{ type: 'context_edit', targetId: first.id, replacement: { content: 'edited' } }] };
  });
  pi.registerCommand('wake', {
    description: 'starts a run without a prompt',
    handler: async () => pi.sendMessage({ customType: 'other', content: 'woken ;; !say awake', display: true }, { triggerTurn: true }),
  });
};
`;

function reasonIn(events: readonly PiEvent[]): string {
  const messages = events.map(
    event => event['message'] as { role?: string; errorMessage?: string } | undefined,
  );
  return messages.findLast(message => message?.role === 'assistant')?.errorMessage ?? '';
}

const tools = (request: Received | undefined) => request?.conversation.tools ?? [];

describe('beside another extension', () => {
  let box: Sandbox;
  let pi: PiRpc;
  const last = () => box.turns.at(-1) ?? assert.fail('no request');
  const live = () => outline(last()).filter(line => line !== 'system' && line !== 'view');

  before(async () => {
    box = await Sandbox.make();
    box.addExtension('other', OTHER);
    await box.host();
    pi = box.rpc();
    await pi.prompt('first ;; !say one');
  });
  after(async () => {
    assert.ok(pi.isRunning);
    assert.deepEqual(
      pi.events.filter(event => event.type === 'extension_error'),
      [],
    );
    await pi.close();
    await box.close();
  });

  it('declares a tool that was registered in an earlier turn', async () => {
    await pi.prompt('LATE ;; !say two');
    await pi.prompt('third ;; !say three');
    assert.ok(tools(last()).includes('late_tool'));
    assert.ok(tools(last()).includes('strata_memory'));
    assert.match(viewOf(last()) ?? '', /two/);
  });

  it('keeps the prompt when another extension appends to the context', async () => {
    await pi.prompt('REMIND ;; !say four');
    assert.deepEqual(live(), ['user REMIND ;; !say four', 'user REMINDER']);
  });

  it('keeps a note that rides along with the prompt, and remembers it as a note', async () => {
    await pi.prompt('HELD ;; !say five');
    assert.deepEqual(live(), ['user HELD ;; !say five', 'user a note that rides along']);
    await pi.prompt('after ;; !say six');
    assert.match(viewOf(last()) ?? '', /\|note: a note that rides along/);
  });

  it('sends the view in a run that no prompt started', async () => {
    const from = pi.events.length;
    await pi.send('prompt', { message: '/wake' });
    await pi.until('the end', event => event.type === 'agent_settled', 15_000, from);
    assert.deepEqual(outline(last()), ['system', 'view', 'user woken ;; !say awake']);
    await pi.prompt('after ;; !say seven');
    assert.match(viewOf(last()) ?? '', /\|note: woken ;; !say awake\n\d+\+1\|talk: awake/);
  });

  it('remembers what Pi stored when another extension rewrote a reply', async () => {
    await pi.prompt('REWRITE ;; !say original words');
    await pi.prompt('after ;; !say eight');
    assert.match(viewOf(last()) ?? '', /\|talk: rewritten by another/);
    assert.doesNotMatch(viewOf(last()) ?? '', /talk: original words/);
  });

  it('sends nothing when another extension removed the prompt', async () => {
    const before = box.turns.length;
    const events = await pi.prompt('DROP ;; !say never');
    assert.equal(box.turns.length, before);
    assert.match(reasonIn(events), /Another extension changed or removed the prompt/);
  });

  it('stops a turn that another extension compacts, and serves the next one whole', async () => {
    const before = box.turns.length;
    const events = await pi.prompt('COMPACT ;; !tool read {"path":"a.txt"} ;; !say never');
    assert.equal(box.turns.length, before + 1);
    assert.match(reasonIn(events), /Another extension compacted the running turn/);
    await pi.prompt('after ;; !say nine');
    assert.deepEqual(live(), ['user after ;; !say nine']);
    assert.match(viewOf(last()) ?? '', /first[^]*content of a\.txt/);
  });

  it('stops a turn whose past another extension edits, and serves the next one with the edit', async () => {
    const before = box.turns.length;
    const events = await pi.prompt('EDIT ;; !tool read {"path":"a.txt"} ;; !say never');
    assert.equal(box.turns.length, before + 1);
    assert.match(reasonIn(events), /Earlier history was changed while this turn ran/);
    await pi.prompt('after ;; !say ten');
    assert.match(viewOf(last()) ?? '', /^<chat>\n0\+1\|user: edited\n/);
  });

  it('keeps one view of a turn in the archive for every turn that sent something', async () => {
    const { state } = await readArchive(box.archives[0] ?? assert.fail());
    const sent = state.turns.filter(turn => (turn.sent?.requests ?? 0) > 0);
    assert.equal(
      sent.reduce((sum, turn) => sum + (turn.sent?.requests ?? 0), 0),
      box.turns.length,
    );
  });
});

describe('beside an extension that takes the memory tool away', () => {
  let box: Sandbox;
  before(async () => {
    box = await Sandbox.make();
    await box.host();
  });
  after(async () => {
    await box.close();
  });

  /** Two turns of a new session beside this extension: notices that match, and the second request. */
  async function beside(source: string, notice: RegExp): Promise<[notices: number, second: Received]> {
    box.addExtension('another', source);
    const pi = box.rpc();
    await pi.prompt('first ;; !say one');
    await pi.prompt('second ;; !say two');
    await pi.close();
    const notices = pi.events.filter(
      event => event['method'] === 'notify' && notice.test(String(event['message'])),
    );
    return [notices.length, box.turns.at(-1) ?? assert.fail()];
  }

  it('by its name: says so once, gives no guidance, and remembers all the same', async () => {
    const source = `export default pi => pi.registerTool({
      name: 'strata_memory', label: 'm', description: 'not ours', parameters: { type: 'object', properties: {} },
      execute: async () => ({ content: [{ type: 'text', text: 'other' }], details: undefined }),
    });`;
    const [notices, request] = await beside(source, /a tool named strata_memory/);
    assert.equal(notices, 1);
    assert.doesNotMatch(request.conversation.said[0]?.text ?? '', /<memory>/);
    assert.match(viewOf(request) ?? '', /one/);
  });

  it('by switching it off: warns once, gives no guidance, and remembers all the same', async () => {
    const source = `export default pi => pi.on('before_agent_start', () =>
      pi.setActiveTools(pi.getActiveTools().filter(name => name !== 'strata_memory')));`;
    const [notices, request] = await beside(source, /strata_memory is switched off/);
    assert.equal(notices, 1);
    assert.ok(!tools(request).includes('strata_memory'));
    assert.doesNotMatch(request.conversation.said[0]?.text ?? '', /<memory>/);
    assert.match(viewOf(request) ?? '', /one/);
  });
});
