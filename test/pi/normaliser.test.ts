import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { messageOf, parseEntry } from '../../extension/archive/entry';
import { recordsOf } from '../../extension/archive/normalise';
import { ensureNode, ensurePi } from '../../scripts/tools.mjs';

const run = promisify(execFile);

interface PiText {
  readonly role: string;
  readonly texts: readonly string[];
}

/** What Pi itself makes of entries for its model: the text blocks of each message, by its own two functions. */
async function piTexts(entries: readonly object[]): Promise<PiText[][]> {
  const [node, cli] = await Promise.all([ensureNode(), ensurePi(process.env['PI_VERSION'])]);
  let folder = path.dirname(cli);
  while (!existsSync(path.join(folder, 'package.json'))) folder = path.dirname(folder);
  const program = `
    const { sessionEntryToContextMessages, convertToLlm } = await import(${JSON.stringify(pathToFileURL(path.join(folder, 'dist/index.js')).href)});
    const textsOf = content => (typeof content === 'string' ? [content] : content.filter(b => b.type === 'text').map(b => b.text));
    const entries = JSON.parse(process.argv[1]);
    const result = entries.map(entry =>
      convertToLlm(sessionEntryToContextMessages(entry)).map(m => ({ role: m.role, texts: textsOf(m.content) })));
    process.stdout.write(JSON.stringify(result));
  `;
  const { stdout } = await run(node, ['--input-type=module', '-e', program, JSON.stringify(entries)]);
  return JSON.parse(stdout) as PiText[][];
}

let count = 0;
const at = () => ({ id: `e${++count}`, parentId: null, timestamp: '2026-11-30T10:00:00.000Z' });
const message = (fields: object) => ({ ...at(), type: 'message', message: { timestamp: 1, ...fields } });
const text = (value: string) => ({ type: 'text', text: value });
const bash = (fields: object) =>
  message({
    role: 'bashExecution',
    command: 'make',
    output: 'ok\n',
    exitCode: 0,
    cancelled: false,
    truncated: false,
    ...fields,
  });

describe('what is remembered of an entry', () => {
  it('is the text that Pi gives its own model, for every kind of entry', async () => {
    const cases: { readonly entry: object; readonly kind: string | undefined }[] = [
      { entry: message({ role: 'user', content: 'plain text' }), kind: 'user' },
      { entry: message({ role: 'user', content: [text('one'), text('two')] }), kind: 'user' },
      { entry: message({ role: 'assistant', content: [text('said')], stopReason: 'stop' }), kind: 'talk' },
      {
        entry: message({
          role: 'assistant',
          content: [{ type: 'thinking', thinking: 'private', thinkingSignature: 's' }, text('visible')],
          stopReason: 'stop',
        }),
        kind: 'talk',
      },
      {
        entry: message({
          role: 'toolResult',
          toolCallId: 'c',
          toolName: 'read',
          isError: false,
          content: [text('out')],
        }),
        kind: 'echo',
      },
      { entry: bash({}), kind: 'echo' },
      { entry: bash({ output: '' }), kind: 'echo' },
      { entry: bash({ exitCode: 2, output: 'broken' }), kind: 'echo' },
      { entry: bash({ exitCode: undefined, cancelled: true }), kind: 'echo' },
      { entry: bash({ exitCode: null }), kind: 'echo' },
      { entry: bash({ truncated: true, fullOutputPath: '/tmp/full' }), kind: 'echo' },
      { entry: bash({ truncated: true }), kind: 'echo' },
      { entry: bash({ excludeFromContext: true }), kind: undefined },
      {
        entry: { ...at(), type: 'custom_message', customType: 'other', content: 'a note', display: true },
        kind: 'note',
      },
      {
        entry: {
          ...at(),
          type: 'custom_message',
          customType: 'other',
          content: [text('blocks')],
          display: false,
        },
        kind: 'note',
      },
      {
        entry: { ...at(), type: 'branch_summary', fromId: 'e1', summary: 'what happened there' },
        kind: 'note',
      },
      { entry: { ...at(), type: 'custom', customType: 'strata.run', data: {} }, kind: undefined },
      { entry: { ...at(), type: 'label', targetId: 'e1', label: 'here' }, kind: undefined },
      { entry: { ...at(), type: 'session_info', name: 'a name' }, kind: undefined },
      { entry: { ...at(), type: 'model_change', provider: 'p', modelId: 'm' }, kind: undefined },
      { entry: { ...at(), type: 'thinking_level_change', thinkingLevel: 'high' }, kind: undefined },
      {
        entry: { ...at(), type: 'usage', kind: 'cache_warm', provider: 'p', model: 'm', usage: {} },
        kind: undefined,
      },
      { entry: { ...at(), type: 'context_edit', targetId: 'e1', replacement: null }, kind: undefined },
    ];
    const theirs = await piTexts(cases.map(({ entry }) => entry));
    for (const [i, { entry, kind }] of cases.entries()) {
      const parsed = parseEntry(entry);
      const stored = parsed && messageOf(parsed);
      const ours = stored ? recordsOf(stored) : [];
      const what = JSON.stringify(entry);
      if (kind === undefined) {
        assert.deepEqual(ours, [], what);
        assert.deepEqual(theirs[i], [], what);
        continue;
      }
      assert.equal(ours.length, 1, what);
      assert.equal(ours[0]?.kind, kind, what);
      const expected = (theirs[i]?.[0]?.texts ?? []).join('\n');
      const prefix = stored?.role === 'toolResult' ? `${stored.toolName}: ` : '';
      assert.equal(ours[0]?.text, prefix + expected, what);
    }
  });

  it('leaves out what Pi gives its model only as instructions or in place of what is remembered itself', async () => {
    const entries = [
      message({ role: 'system', content: 'instructions', sections: { tools: 'x' } }),
      { ...at(), type: 'compaction', summary: 'short', firstKeptEntryId: 'e1', tokensBefore: 1 },
    ];
    const theirs = await piTexts(entries);
    assert.ok(theirs.every(messages => messages.length > 0));
    for (const entry of entries) {
      const parsed = parseEntry(entry);
      assert.equal(parsed && messageOf(parsed), undefined);
    }
  });
});
