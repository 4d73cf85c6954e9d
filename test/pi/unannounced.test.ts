import assert from 'node:assert/strict';
import { readArchive, survey } from '../../extension/cli/readArchive';
import { Sandbox, outline } from '../support/pi';
import type { PiRpc } from '../support/piRpc';
import { orphansOf, rememberedIn, storedBeforeLastTurn } from '../support/remembered';

/** Another extension, that writes into the session in every way that no `message_end` announces. */
const WRITER = `
export default pi => {
  let prompt = '';
  const note = content => ({ customType: 'other', content, display: true });
  pi.on('before_agent_start', event => void (prompt = event.prompt ?? ''));
  pi.on('turn_end', event => {
    if (prompt.includes('DRAFT') && event.toolResults.length > 0)
      return { entries: [{ type: 'custom_message', ...note('a drafted note ;; !say fifth') }, { type: 'custom', customType: 'other', data: 1 }] };
  });
  pi.on('agent_before_settle', () => {
    if (!prompt.includes('SHORTEN')) return;
    prompt = '';
    return { entries: [{ type: 'compaction', summary: 'shortened by another', firstKeptEntryId: null }] };
  });
  const command = (name, handler) => pi.registerCommand(name, { description: name, handler });
  command('note', async text => pi.sendMessage(note(text)));
  command('with-next', async text => pi.sendMessage(note(text), { deliverAs: 'nextTurn' }));
  command('back', async (text, ctx) => {
    const target = ctx.sessionManager.getEntries()
      .find(entry => entry.type === 'message' && entry.message.role === 'assistant' && JSON.stringify(entry.message.content).includes(text));
    await ctx.navigateTree(target.id, { summarize: true });
  });
};
`;

/** Each is in the view of the next turn once, in the order of Pi's file, and in the archive on that branch alone. */
describe('what Pi takes into a session without announcing it', () => {
  let box: Sandbox;
  let pi: PiRpc;
  const archives: string[] = [];
  before(async () => {
    box = await Sandbox.make();
    box.addExtension('writer', WRITER);
    await box.host();
    pi = box.rpc();
    await pi.prompt('one ;; !say first');
  });
  after(async () => {
    assert.deepEqual(
      pi.events.filter(event => event.type === 'extension_error'),
      [],
    );
    await pi.close();
    await box.close();
  });

  /** The archive of the newest session. */
  const archive = () => {
    const first = (archives[0] ??= box.archives[0] ?? '');
    return box.archives.find(folder => folder !== first) ?? first;
  };
  const type = (message: string) => pi.send('prompt', { message });
  const last = () => box.turns.at(-1) ?? assert.fail('no request');

  /** The next turn's memory, which must be what Pi's file has before it. */
  async function nextTurn(prompt: string): Promise<string[]> {
    await pi.prompt(prompt);
    const remembered = rememberedIn(last());
    assert.deepEqual(remembered, storedBeforeLastTurn(box.sessionFiles.at(-1) ?? ''));
    assert.deepEqual(await orphansOf(archive()), []);
    assert.equal((await survey(await readArchive(archive()))).superseded, 0);
    return remembered;
  }

  it('shell commands and notes written between two turns', async () => {
    await pi.send('bash', { command: 'echo shell-word' });
    await type('/note an idle note');
    await pi.send('bash', { command: 'echo kept-from-the-model', excludeFromContext: true });
    await type('/note another idle note');
    const remembered = await nextTurn('two ;; !say second');
    assert.deepEqual(remembered.slice(2), [
      'echo: Ran `echo shell-word` ``` shell-word ```',
      'note: an idle note',
      'note: another idle note',
    ]);
    // `!!` keeps a command from every model, and so from memory.
    assert.doesNotMatch(box.archived, /kept-from-the-model/);
  });

  it('a shell command inside a turn', async () => {
    const from = pi.events.length;
    await pi.start('three ;; !tool bash {"command":"sleep 1; echo slow"} ;; !say third');
    await pi.until('the tool', event => event.type === 'tool_execution_start', 10_000, from);
    await pi.send('bash', { command: 'echo meanwhile' });
    await pi.until('the end', event => event.type === 'agent_settled', 20_000, from);
    const remembered = await nextTurn('four ;; !say fourth');
    assert.equal(remembered.filter(line => line.includes('echo meanwhile')).length, 1);
    assert.equal(remembered.filter(line => line.includes('echo: bash: slow')).length, 1);
  });

  it('a message that waits for the next prompt, and drafts of a step', async () => {
    // It comes after the prompt, so it is what the model answers.
    const note = 'a waiting note ;; !tool read {"path":"a.txt"}';
    await type(`/with-next ${note}`);
    const prompt = 'DRAFT five';
    await nextTurn(prompt);
    const live = outline(last()).filter(line => line !== 'system' && line !== 'view');
    assert.deepEqual(live, [
      `user ${prompt}`,
      `user ${note}`,
      'assistant read{"path":"a.txt"}',
      'tool content of a.txt\n',
      'user a drafted note ;; !say fifth',
    ]);
    const remembered = await nextTurn('six ;; !say sixth');
    assert.deepEqual(remembered.slice(-6), [
      `user: ${prompt}`,
      `note: ${note}`,
      'tool: read {"path":"a.txt"}',
      'echo: read: content of a.txt',
      'note: a drafted note ;; !say fifth',
      'talk: fifth',
    ]);
  });

  it('a compaction of another extension between two turns, which takes nothing from memory', async () => {
    await nextTurn('SHORTEN seven ;; !say seventh');
    assert.equal(box.entries.filter(entry => entry['type'] === 'compaction').length, 1);
    const remembered = await nextTurn('eight ;; !say eighth');
    assert.equal(remembered[0], 'user: one ;; !say first');
    assert.equal(remembered.at(-1), 'talk: seventh');
    assert.doesNotMatch(last().raw, /shortened by another/);
  });

  it('the summary of a branch that was left, which stays in the archive as one', async () => {
    // Pi asks the model for the summary and shows it the directives of all turns: here they say something.
    await pi.send('new_session');
    for (const word of ['north', 'south', 'east']) await pi.prompt(`go ${word} ;; !say going ${word}`);
    await type('/back going north');
    const remembered = await nextTurn('go west ;; !say going west');
    assert.deepEqual(remembered.slice(0, 2), ['user: go north ;; !say going north', 'talk: going north']);
    assert.match(remembered[2] ?? '', /^note: The following is a summary of a branch/);
    assert.equal(remembered.length, 3);
    const { state } = await readArchive(archive());
    const tips = state.tips().map(tip => state.branch(tip.chain)?.records);
    assert.deepEqual(tips, [6, 5]);
    assert.equal(state.branch(state.newest)?.records, 5);
    assert.equal((await nextTurn('on ;; !say on')).at(-1), 'talk: going west');
  });
});
