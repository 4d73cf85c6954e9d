// The chat-completions format, as a stream of server-sent events.

/** @typedef {import('./directives.mjs').Message} Message */
/** @typedef {{input: number, output: number}} Tokens */

/**
 * The events of one reply, in order: the `data:` lines without the prefix.
 * @param {Message} reply
 * @param {{id: string, model: string, tokens: Tokens}} context
 * @returns {Generator<string>}
 */
export function* openAiEvents(reply, { id, model, tokens }) {
  const chunk = (/** @type {object} */ delta, /** @type {string | null} */ finish = null) =>
    JSON.stringify({
      id,
      object: 'chat.completion.chunk',
      created: 0,
      model,
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
  yield chunk({ role: 'assistant', content: '' });
  for (const piece of pieces(reply.thinking)) yield chunk({ reasoning_content: piece });
  for (const piece of pieces(reply.text)) yield chunk({ content: piece });
  for (const [index, call] of reply.calls.entries()) {
    const head = { index, id: `call_${id}_${index}`, type: 'function' };
    yield chunk({ tool_calls: [{ ...head, function: { name: call.name, arguments: '' } }] });
    yield chunk({ tool_calls: [{ index, function: { arguments: call.args } }] });
  }
  yield chunk({}, reply.calls.length > 0 ? 'tool_calls' : 'stop');
  yield JSON.stringify({
    id,
    object: 'chat.completion.chunk',
    created: 0,
    model,
    choices: [],
    usage: {
      prompt_tokens: tokens.input,
      completion_tokens: tokens.output,
      total_tokens: tokens.input + tokens.output,
    },
  });
  yield '[DONE]';
}

/**
 * A text in at most some 40 pieces that never split a character.
 * @param {string} text
 * @returns {Generator<string>}
 */
export function* pieces(text) {
  const characters = Array.from(text);
  const size = Math.max(8, Math.ceil(characters.length / 40));
  for (let at = 0; at < characters.length; at += size) yield characters.slice(at, at + size).join('');
}
