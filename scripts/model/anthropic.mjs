// The Anthropic messages format, as a stream of server-sent events.
import { createHash } from 'node:crypto';
import { pieces } from './openai.mjs';

/**
 * The events of one reply, in order.
 * @param {import('./directives.mjs').Message} reply
 * @param {{id: string, model: string, tokens: {input: number, output: number}}} context
 * @returns {Generator<{type: string}>}
 */
export function* anthropicEvents(reply, { id, model, tokens }) {
  yield event('message_start', {
    message: {
      id: `msg_${id}`,
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: tokens.input, output_tokens: 0 },
    },
  });
  let index = 0;
  if (reply.thinking !== '') {
    yield event('content_block_start', {
      index,
      content_block: { type: 'thinking', thinking: '', signature: '' },
    });
    for (const piece of pieces(reply.thinking))
      yield event('content_block_delta', { index, delta: { type: 'thinking_delta', thinking: piece } });
    yield event('content_block_delta', {
      index,
      delta: { type: 'signature_delta', signature: signatureOf(reply.thinking) },
    });
    yield event('content_block_stop', { index });
    index += 1;
  }
  if (reply.text !== '') {
    yield event('content_block_start', { index, content_block: { type: 'text', text: '' } });
    for (const piece of pieces(reply.text))
      yield event('content_block_delta', { index, delta: { type: 'text_delta', text: piece } });
    yield event('content_block_stop', { index });
    index += 1;
  }
  for (const call of reply.calls) {
    const block = { type: 'tool_use', id: `toolu_${id}_${index}`, name: call.name, input: {} };
    yield event('content_block_start', { index, content_block: block });
    yield event('content_block_delta', {
      index,
      delta: { type: 'input_json_delta', partial_json: call.args },
    });
    yield event('content_block_stop', { index });
    index += 1;
  }
  yield event('message_delta', {
    delta: { stop_reason: reply.calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null },
    usage: { output_tokens: tokens.output },
  });
  yield event('message_stop', {});
}

/** @param {string} type @param {object} fields */
const event = (type, fields) => ({ type, ...fields });

/**
 * The signature that this model puts under a thought. It can be computed again, so a test can tell whether a thought
 * came back with the very bytes it left with.
 * @param {string} thinking
 */
export const signatureOf = thinking => createHash('sha256').update(`demo ${thinking}`).digest('base64');
