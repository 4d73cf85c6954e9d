import assert from 'node:assert/strict';
import { nextChain, archiveIdFor, sourceKey } from '../../../extension/archive/canonical';
import {
  messageOf,
  parseEntry,
  type ContextEditEntry,
  type SessionEntry,
} from '../../../extension/archive/entry';
import { ROOT_CHAIN, type EntryId, type SessionId, type SourceKey } from '../../../extension/archive/ids';
import type { StoredMessage } from '../../../extension/archive/message';
import { recordsOf } from '../../../extension/archive/normalise';
import { rawText } from '../../../extension/archive/record';
import fc from 'fast-check';

const at = { id: 'e1', parentId: 'e0', timestamp: '2026-11-30T17:11:51.962Z' };

function entry(fields: object): SessionEntry {
  const parsed = parseEntry({ ...at, ...fields });
  assert.ok(parsed);
  return parsed;
}
function texts(e: SessionEntry, edit?: SessionEntry): string[] {
  const message = messageOf(e, edit as ContextEditEntry | undefined);
  return message ? recordsOf(message).map(rawText) : [];
}

describe('an entry of a session', () => {
  it('is a source when the model saw what it holds', () => {
    assert.deepEqual(texts(entry({ type: 'message', message: { role: 'user', content: 'hi' } })), [
      'user: hi',
    ]);
    assert.deepEqual(
      texts(
        entry({
          type: 'custom_message',
          customType: 'c',
          content: 'told',
          display: false,
          details: { x: 1 },
        }),
      ),
      ['note: told'],
    );
    assert.deepEqual(texts(entry({ type: 'branch_summary', fromId: 'e0', summary: 'tried A' })), [
      'note: The following is a summary of a branch that this conversation came back from:\n\n<summary>\ntried A</summary>',
    ]);
    assert.deepEqual(
      texts(
        entry({
          type: 'message',
          message: {
            role: 'bashExecution',
            command: 'ls',
            output: 'a',
            truncated: true,
            fullOutputPath: '/t',
            cancelled: true,
            exitCode: 2,
          },
        }),
      ),
      ['echo: Ran `ls`\n```\na\n```\n\n(command cancelled)\n\n[Output truncated. Full output: /t]'],
    );
    // Format 2's name for a custom message.
    assert.deepEqual(
      texts(entry({ type: 'message', message: { role: 'hookMessage', customType: 'h', content: 'old' } })),
      ['note: old'],
    );
  });

  it('is no source when it is instructions, state or housekeeping', () => {
    for (const fields of [
      { type: 'message', message: { role: 'system', content: 'rules' } },
      {
        type: 'message',
        message: { role: 'bashExecution', command: 'x', output: 'y', excludeFromContext: true },
      },
      { type: 'message', message: { role: 'assistant', content: [], stopReason: 'aborted' } },
      { type: 'message' },
      { type: 'branch_summary', summary: '' },
      { type: 'custom', customType: 'c', data: { text: 'x' } },
      { type: 'compaction', summary: 's', firstKeptEntryId: 'e0' },
      { type: 'model_change', modelId: 'm' },
      { type: 'thinking_level_change', thinkingLevel: 'off' },
      { type: 'label', targetId: 'e0', label: 'l' },
      { type: 'session_info', name: 'n' },
      { type: 'usage', kind: 'cache_warm' },
      { type: 'context_edit', targetId: 'e0', replacement: null },
      { type: 'of a later Pi', message: { role: 'user', content: 'x' } },
    ])
      assert.equal(messageOf(entry(fields)), undefined, JSON.stringify(fields));
  });

  it('keeps its place and its time, and an old message without a time gets that of its entry', () => {
    const parsed = entry({ type: 'message', message: { role: 'user', content: 'x' } });
    assert.deepEqual([parsed.id, parsed.parentId, parsed.timestamp], ['e1', 'e0', 1796058711962]);
    assert.equal(messageOf(parsed)?.timestamp, 1796058711962);
    const timed = entry({ type: 'message', message: { role: 'user', content: 'x', timestamp: 5 } });
    assert.equal(messageOf(timed)?.timestamp, 5);
    assert.equal(entry({ type: 'custom', customType: 'c', parentId: 7 }).parentId, null);
  });

  it('without an id, as in format 1, stands where its reader says', () => {
    const line = { type: 'message', timestamp: at.timestamp, message: { role: 'user', content: 'x' } };
    assert.equal(parseEntry(line), undefined);
    const place = { id: 'line-2' as EntryId, parentId: null };
    const parsed = parseEntry(line, place);
    assert.equal(parsed?.id, 'line-2');
    assert.equal(parseEntry({ ...line, ...at }, place)?.id, 'e1');
  });

  it('is omitted or replaced by a context edit as Pi does it', () => {
    const edit = (replacement: unknown): SessionEntry =>
      entry({ type: 'context_edit', targetId: 'e1', replacement });
    const reply = entry({
      type: 'message',
      message: { role: 'assistant', content: [{ type: 'text', text: 'B' }], stopReason: 'stop' },
    });
    const shell = entry({ type: 'message', message: { role: 'bashExecution', command: 'c', output: 'o' } });
    assert.deepEqual(texts(reply, edit(null)), []);
    assert.deepEqual(texts(reply, edit({ content: 'B2' })), ['talk: B2']);
    assert.deepEqual(
      texts(
        reply,
        edit({
          content: [
            { type: 'thinking', thinking: 't' },
            { type: 'text', text: 'B3' },
          ],
        }),
      ),
      ['talk: B3'],
    );
    assert.deepEqual(texts(reply, edit({ content: [] })), []);
    assert.deepEqual(
      texts(shell, edit({ content: 'x' })),
      texts(shell),
      'a shell command has no content to replace',
    );
    assert.deepEqual(texts(shell, edit(null)), []);
    assert.equal(edit({ content: 5 }).type, 'other', 'Pi could not have written it');
    const [before, after] = [messageOf(reply), messageOf(reply, edit({ content: 'B2' }) as ContextEditEntry)];
    assert.ok(before && after);
    assert.notEqual(sourceKey(before), sourceKey(after));
  });

  it('never throws, whatever a file holds', () => {
    const shaped = fc.record({
      type: fc.constantFrom(
        'message',
        'custom_message',
        'branch_summary',
        'context_edit',
        'custom',
        'session',
      ),
      id: fc.oneof(fc.constant('e'), fc.jsonValue()),
      message: fc.jsonValue(),
      content: fc.jsonValue(),
      replacement: fc.jsonValue(),
      summary: fc.jsonValue(),
    });
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), shaped), value => {
        const parsed = parseEntry(value);
        if (parsed) messageOf(parsed);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('identity', () => {
  const key = (fields: object): string =>
    sourceKey(messageOf(entry({ type: 'message', message: fields })) as StoredMessage);
  const call = (fields: object): object => ({
    role: 'assistant',
    stopReason: 'toolUse',
    content: [{ type: 'toolCall', id: 'c1', name: 'read', arguments: { path: 'a', limit: 1 }, ...fields }],
  });
  const result = { role: 'toolResult', toolCallId: 'c1', toolName: 'read', content: 'out', isError: false };

  it('changes with everything that counts and with nothing else', () => {
    const image = (data: string): object => ({
      role: 'user',
      content: [{ type: 'image', mimeType: 'image/png', data }],
    });
    const same: readonly [object, object][] = [
      [
        { role: 'user', content: 'x' },
        { role: 'user', content: [{ type: 'text', text: 'x' }], timestamp: 9 },
      ],
      [call({}), call({ arguments: { limit: 1, path: 'a' } })],
      [call({}), { ...call({}), usage: { input: 5 }, stopReason: 'stop', durationMs: 3 }],
      [result, { ...result, details: { x: 1 }, durationMs: 4 }],
      [image('aGk='), image('aGk')],
    ];
    for (const [a, b] of same) assert.equal(key(a), key(b), JSON.stringify([a, b]));
    const different = [
      { role: 'user', content: 'x' },
      { role: 'user', content: 'y' },
      { role: 'custom', customType: 'c', content: 'x' },
      { role: 'assistant', content: 'x' },
      { role: 'assistant', content: 'x', stopReason: 'error' },
      { role: 'assistant', content: 'x', stopReason: 'aborted' },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'x' },
          { type: 'text', text: 'x' },
        ],
      },
      image('aGk='),
      image('aG8='),
      call({}),
      call({ id: 'c2' }),
      call({ name: 'write' }),
      call({ arguments: { path: 'a', limit: 2 } }),
      result,
      { ...result, isError: true },
      { ...result, toolCallId: 'c2' },
      { ...result, toolName: 'write' },
      { role: 'bashExecution', command: 'c', output: 'o' },
      { role: 'bashExecution', command: 'c', output: 'o', exitCode: 1 },
      { role: 'bashExecution', command: 'c', output: 'o', cancelled: true },
      { role: 'branchSummary', summary: 'x' },
    ];
    assert.equal(new Set(different.map(key)).size, different.length);
  });

  it('of a prefix depends on every source before it and on their order', () => {
    const keys = ['a', 'b', 'c'].map(text =>
      sourceKey({ role: 'user', content: [{ type: 'text', text }], timestamp: 0 }),
    );
    const chain = (...order: number[]): string =>
      order.reduce((after, i) => nextChain(after, keys[i] as (typeof keys)[0]), ROOT_CHAIN);
    const all = [chain(0), chain(0, 1), chain(1, 0), chain(1), chain(0, 1, 2), chain(0, 0), chain(2, 1, 0)];
    assert.equal(new Set(all).size, all.length);
    assert.equal(chain(0, 1, 2), chain(0, 1, 2));
    for (const value of all) assert.match(value, /^[0-9a-f]{32}$/);
  });

  it('never changes by accident: keys are in every archive on disk', () => {
    // sha256 of {"content":[{"text":"hello"}],"role":"user"}
    assert.equal(
      key({ role: 'user', content: 'hello' }),
      'b694fb4acbce7a9121fc7c4d6dface7b70d2d986a8b503b8d30737a7715266eb',
    );
    // sha256 of {"content":[{"arguments":{"limit":1,"path":"a"},"call":"c1","tool":"read"}],"failed":null,"role":"assistant"}
    assert.equal(key(call({})), '7068336f4ccfa7cabe7c11adf0369e69f56f214aa2e9d1eeb1e8ccce7a60407b');
    // sha256 of 32 zeros followed by the key above, cut to 32 digits
    assert.equal(
      nextChain(ROOT_CHAIN, key({ role: 'user', content: 'hello' }) as SourceKey),
      'e318c6d03d8dfa1e6890bf32f5f12a4f',
    );
    assert.equal(archiveIdFor('/home/u/p', 'my-session' as SessionId), 'c200c0b2e4305c9f1255ed2e');
  });

  it('of a session differs in two projects', () => {
    const id = 'my-session' as SessionId;
    assert.notEqual(archiveIdFor('/a', id), archiveIdFor('/b', id));
    assert.notEqual(archiveIdFor('/a', 'bc' as SessionId), archiveIdFor('/ab', 'c' as SessionId));
  });
});
