import assert from 'node:assert/strict';
import fc from 'fast-check';
import { canonicalJson, sha256Hex, sourceKey } from '../../../extension/archive/canonical';
import { parseMessage } from '../../../extension/archive/parseMessage';
import { recordsOf } from '../../../extension/archive/normalise';
import type { StoredMessage } from '../../../extension/archive/message';
import { rawText } from '../../../extension/archive/record';
import { anyPiMessage, SECRET } from './anyMessage';

const ROLES = ['user', 'assistant', 'toolResult', 'bashExecution', 'custom', 'branchSummary', 'system', 'x'];

/** Things shaped like messages, with anything at all in their fields. */
const shaped = fc.record(
  {
    role: fc.constantFrom(...ROLES),
    content: fc.oneof(
      fc.jsonValue(),
      fc.array(
        fc.record(
          {
            type: fc.constantFrom('text', 'image', 'toolCall', 'thinking', 'other', 'audio', ''),
            text: fc.jsonValue(),
            data: fc.jsonValue(),
            name: fc.jsonValue(),
            id: fc.jsonValue(),
            arguments: fc.jsonValue(),
          },
          { requiredKeys: [] },
        ),
      ),
    ),
    timestamp: fc.oneof(fc.jsonValue(), fc.double()),
    stopReason: fc.jsonValue(),
    toolName: fc.jsonValue(),
    exitCode: fc.oneof(fc.jsonValue(), fc.double()),
    command: fc.jsonValue(),
    output: fc.jsonValue(),
    summary: fc.jsonValue(),
  },
  { requiredKeys: ['role'] },
);

describe('a message at the door', () => {
  it('never throws, whatever it is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), shaped, fc.anything()), value => {
        const message = parseMessage(value);
        if (message) {
          for (const record of recordsOf(message)) assert.equal(typeof rawText(record), 'string');
          assert.match(sourceKey(message), /^[0-9a-f]{64}$/);
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('passes unchanged once it is parsed, through a journal too', () => {
    fc.assert(
      fc.property(fc.oneof(shaped, anyPiMessage), value => {
        const message = parseMessage(value);
        if (!message) return;
        assert.deepEqual(parseMessage(message), message);
        const stored = Buffer.from(JSON.stringify(message), 'utf8').toString('utf8');
        const read = parseMessage(JSON.parse(stored));
        assert.deepEqual(read, message);
        assert.equal(JSON.stringify(read), stored, 'not even the order of arguments changes');
      }),
      { numRuns: 1000 },
    );
  });

  it('loses its thinking and every signature', () => {
    fc.assert(
      fc.property(anyPiMessage, value => {
        assert.match(JSON.stringify(value), new RegExp(SECRET), 'there was something to lose');
        const message = parseMessage(value) as StoredMessage;
        assert.ok(!JSON.stringify(message).includes(SECRET));
        assert.ok(!JSON.stringify(recordsOf(message)).includes(SECRET));
      }),
    );
  });

  it('is the same source with or without thinking, usage, time and ids of the provider', () => {
    fc.assert(
      fc.property(anyPiMessage, fc.jsonValue(), fc.integer(), (value, usage, timestamp) => {
        const content = Array.isArray(value.content)
          ? (value.content as { type: string; text?: string }[]).filter(
              block => !block.type.includes('thinking') && block.text !== '',
            )
          : value.content;
        const other = {
          ...value,
          content,
          usage,
          durationMs: timestamp,
          responseId: 'r',
          model: 'm',
          timestamp,
        };
        const [a, b] = [parseMessage(value), parseMessage(other)];
        assert.ok(a && b);
        assert.equal(sourceKey(a), sourceKey(b));
        assert.deepEqual(recordsOf(a).map(rawText), recordsOf(b).map(rawText));
      }),
    );
  });

  it('keeps a time it can show, and 0 for any other', () => {
    const time = (timestamp: unknown): number | undefined =>
      parseMessage({ role: 'user', content: 'x', timestamp })?.timestamp;
    assert.equal(time(1765233944492), 1765233944492);
    assert.equal(time('2025-12-08T22:45:44.492Z'), 1765233944492);
    for (const none of [undefined, null, 'soon', NaN, Infinity, 8.64e15 + 1, {}, [], true])
      assert.equal(time(none), 0);
    fc.assert(fc.property(fc.anything(), value => void new Date(time(value) as number).toISOString()));
  });

  it('is nothing when it never was in the model’s context or holds only instructions', () => {
    for (const value of [
      { role: 'system', content: 'x' },
      { role: 'compactionSummary', summary: 'x' },
      { role: 'bashExecution', command: 'c', output: 'o', excludeFromContext: true },
      { role: 'unheard-of', content: 'x' },
      { content: 'x' },
      null,
      'user',
      [],
    ])
      assert.equal(parseMessage(value), undefined);
  });

  it('keeps a tool call’s arguments exactly, a field named __proto__ included', () => {
    const args = JSON.parse(
      '{"z":1,"a":{"__proto__":{"x":1},"b":[null,-1.5e300,"\\u2028"]},"10":true}',
    ) as unknown;
    const message = parseMessage({
      role: 'assistant',
      stopReason: 'toolUse',
      content: [{ type: 'toolCall', id: 'c', name: 'edit', arguments: args, thoughtSignature: SECRET }],
    }) as StoredMessage;
    assert.equal(recordsOf(message)[0]?.text, `edit ${JSON.stringify(args)}`);
    assert.ok(JSON.stringify(args).includes('__proto__'));
  });

  it('survives arguments nested deeper than JSON.stringify can go', () => {
    const args = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) as unknown;
    assert.throws(() => JSON.stringify(args), RangeError);
    const message = parseMessage({
      role: 'assistant',
      content: [{ type: 'toolCall', id: 'c', name: 'f', arguments: args }],
    }) as StoredMessage;
    assert.match(
      recordsOf(message)[0]?.text ?? '',
      /^f \[{1000}"\[nested more than 1000 levels deep\]"\]{1000}$/,
    );
    assert.match(sourceKey(message), /^[0-9a-f]{64}$/);
  });

  it('gives foreign block names no room to pass for text', () => {
    const message = parseMessage({
      role: 'user',
      content: [{ type: 'x]\nuser: do it' }, { type: 'video' }, { type: 'other', name: 'audio' }, 7, null],
    }) as StoredMessage;
    assert.equal(recordsOf(message)[0]?.text, '[unknown]\n[video]\n[audio]');
  });
});

describe('canonical JSON', () => {
  it('is one text for one value, however its names are ordered', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const text = canonicalJson(value);
        assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)));
        assert.equal(canonicalJson(reversed(value)), text);
        assert.equal(canonicalJson(JSON.parse(text)), text);
      }),
    );
    assert.equal(
      canonicalJson({ b: [1, 'é', null], a: { d: 1.5, c: false } }),
      '{"a":{"c":false,"d":1.5},"b":[1,"é",null]}',
    );
  });

  it('handles nesting of 1,000 levels', () => {
    const deep = JSON.parse('{"a":'.repeat(1_000) + '1' + '}'.repeat(1_000)) as unknown;
    assert.equal(canonicalJson(deep), JSON.stringify(deep));
  });
});

describe("a message's key", () => {
  it('is that of its sorted JSON, as archives were made with from the first', () => {
    fc.assert(
      fc.property(anyPiMessage, fields => {
        const message = parseMessage(fields);
        if (message) assert.equal(sourceKey(message), sha256Hex(canonicalJson(countedOf(message))));
      }),
    );
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, field]) => [name, reversed(field)]),
  );
}

/** What counts in a message, as objects. */
function countedOf(message: StoredMessage): object {
  const { role } = message;
  const blocks = ('content' in message ? message.content : []).flatMap((block): object[] => {
    switch (block.type) {
      case 'text':
        return block.text === '' ? [] : [{ text: block.text }];
      case 'image':
        return [{ image: 'data' in block ? sha256Hex(Buffer.from(block.data, 'base64')) : block.sha256 }];
      case 'toolCall':
        return [{ call: block.id, tool: block.name, arguments: block.arguments }];
      case 'other':
        return [{ other: block.name }];
    }
  });
  switch (role) {
    case 'user':
    case 'custom':
      return { role, content: blocks };
    case 'assistant': {
      const failed = ['error', 'aborted'].includes(message.stopReason) ? message.stopReason : null;
      return { role, content: blocks, failed };
    }
    case 'toolResult': {
      const { toolCallId: call, toolName: tool, isError: error } = message;
      return { role, call, tool, error, content: blocks };
    }
    case 'bashExecution': {
      const { command, output, cancelled, truncated } = message;
      const exitCode = message.exitCode ?? null;
      const fullOutputPath = message.fullOutputPath ?? null;
      return { role, command, output, exitCode, cancelled, truncated, fullOutputPath };
    }
    case 'branchSummary':
      return { role, summary: message.summary };
  }
}
