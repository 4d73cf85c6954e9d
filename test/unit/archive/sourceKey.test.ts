import assert from 'node:assert/strict';
import { sha256Hex, sourceKey } from '../../../extension/archive/canonical';
import type { StoredMessage } from '../../../extension/archive/message';

const text = { type: 'text', text: 'né "q"\n' } as const;
const IMAGE = sha256Hex(Buffer.from('abc'));

/** Each kind of message, and the one text that its key is the hash of: names sorted, nothing else in it. */
const KEYS: readonly (readonly [StoredMessage, string])[] = [
  [
    { role: 'user', content: [text, { type: 'text', text: '' }], timestamp: 5 },
    '{"content":[{"text":"né \\"q\\"\\n"}],"role":"user"}',
  ],
  [
    {
      role: 'custom',
      customType: 'x',
      content: [
        { type: 'image', mimeType: 'image/png', data: 'YWJj' },
        { type: 'other', name: 'audio' },
      ],
      timestamp: 5,
    },
    `{"content":[{"image":"${IMAGE}"},{"other":"audio"}],"role":"custom"}`,
  ],
  [
    { role: 'user', content: [{ type: 'image', mimeType: '', sha256: IMAGE, bytes: 3 }], timestamp: 5 },
    `{"content":[{"image":"${IMAGE}"}],"role":"user"}`,
  ],
  [
    { role: 'assistant', content: [text], stopReason: 'aborted', timestamp: 5 },
    '{"content":[{"text":"né \\"q\\"\\n"}],"failed":"aborted","role":"assistant"}',
  ],
  [
    {
      role: 'assistant',
      content: [
        { type: 'toolCall', id: 'c', name: 't', arguments: { b: 1, '10': 2, '9': { z: [], a: null } } },
      ],
      stopReason: 'toolUse',
      timestamp: 5,
    },
    '{"content":[{"arguments":{"10":2,"9":{"a":null,"z":[]},"b":1},"call":"c","tool":"t"}],"failed":null,"role":"assistant"}',
  ],
  [
    { role: 'toolResult', toolCallId: 'c', toolName: 't', isError: true, content: [], timestamp: 5 },
    '{"call":"c","content":[],"error":true,"role":"toolResult","tool":"t"}',
  ],
  [
    { role: 'bashExecution', command: 'ls', output: 'o', cancelled: false, truncated: true, timestamp: 5 },
    '{"cancelled":false,"command":"ls","exitCode":null,"fullOutputPath":null,"output":"o","role":"bashExecution","truncated":true}',
  ],
  [{ role: 'branchSummary', summary: 's', timestamp: 5 }, '{"role":"branchSummary","summary":"s"}'],
];

describe('the key of a source', () => {
  for (const [message, counted] of KEYS)
    it(`is the hash of one text that never changes: ${counted.slice(0, 60)}`, () =>
      assert.equal(sourceKey(message), sha256Hex(counted)));
});
