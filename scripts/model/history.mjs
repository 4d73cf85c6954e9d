// Counts what must never leave once memory is on: text of earlier turns outside the view.

/** @typedef {import('./conversation.mjs').Conversation} Conversation */

/** A random mark with the number of the turn it was made in. It is put into prompts and into files that tools read. */
const CANARY = /\bcn(\d+)x[0-9a-f]{16}\b/g;

/**
 * @param {number} turn from 1
 * @param {string} random 16 hex digits
 */
export const canary = (turn, random) => `cn${turn}x${random}`;

/** @param {string} text */
const turnsIn = text => [...text.matchAll(CANARY)].map(match => Number(match[1]));

/**
 * Bytes of raw history in one request: of each message outside the view (the first user message that starts with
 * `<chat>`) that holds a canary of a turn before the newest one, all its text and its tool calls. The newest turn is
 * that of the newest canary in the request's last user message.
 * @param {Conversation} conversation
 * @returns {number}
 */
export function rawHistoryBytes({ said }) {
  const view = said.findIndex(message => message.role === 'user' && message.text.startsWith('<chat>'));
  const last = said.findLastIndex((message, at) => message.role === 'user' && at !== view);
  const current = Math.max(0, ...turnsIn(said[last]?.text ?? ''));
  let bytes = 0;
  for (const [at, message] of said.entries()) {
    if (at === view) continue;
    const text = [message.text, ...message.calls.map(call => call.args)].join('\n');
    if (turnsIn(text).some(turn => turn < current)) bytes += Buffer.byteLength(text);
  }
  return bytes;
}
