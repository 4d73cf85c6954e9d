import fc from 'fast-check';

/** Stands in every place of a message that must not be remembered. */
export const SECRET = 'unspoken-7f3a';

const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const said = fc.oneof(
  text.map(t => ({ type: 'text', text: t, textSignature: SECRET })),
  text.map(t => ({ type: 'image', mimeType: 'image/png', data: Buffer.from(t).toString('base64') })),
);
const thought = fc.oneof(
  fc.constant({ type: 'thinking', thinking: `${SECRET} and more`, thinkingSignature: SECRET }),
  fc.constant({ type: 'thinking', thinking: '', redacted: true, thinkingSignature: SECRET }),
  fc.constant({ type: 'redacted_thinking', data: SECRET }),
  fc.constant({ type: 'reasoning', text: SECRET, summary: [SECRET] }),
);
const call = fc.record({
  type: fc.constant('toolCall'),
  id: text,
  name: fc.string({ minLength: 1, maxLength: 8 }),
  arguments: fc.dictionary(text, fc.jsonValue()),
  thoughtSignature: fc.constant(SECRET),
});

const timestamp = fc.integer({ min: 1, max: 2_000_000_000_000 });

/** Messages as Pi makes them, each with `SECRET` where thinking and signatures are. */
export const anyPiMessage: fc.Arbitrary<{ readonly [field: string]: unknown }> = fc.oneof(
  fc.record({
    role: fc.constant('assistant'),
    content: fc
      .tuple(fc.array(fc.oneof(said, thought, call), { maxLength: 6 }), thought)
      .map(([blocks, last]) => [...blocks, last]),
    stopReason: fc.constantFrom('stop', 'length', 'toolUse', 'error', 'aborted'),
    usage: fc.constant({ input: 1, output: 2 }),
    timestamp,
  }),
  fc.record({
    role: fc.constant('user'),
    content: fc.array(said, { maxLength: 4 }),
    signature: fc.constant(SECRET),
    timestamp,
  }),
  fc.record({
    role: fc.constant('toolResult'),
    toolCallId: text,
    toolName: fc.string({ minLength: 1, maxLength: 8 }),
    content: fc.array(said, { maxLength: 4 }),
    details: fc.constant({ thinking: SECRET }),
    isError: fc.boolean(),
    timestamp,
  }),
  fc.record({
    role: fc.constant('custom'),
    customType: text,
    content: fc.oneof(text, fc.array(said, { maxLength: 4 })),
    details: fc.constant(SECRET),
    timestamp,
  }),
);
