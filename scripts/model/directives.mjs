// The test face of the model: lines of the newest user message that start with `!` say what to answer. See README.md.
import { newestTurn, stepOf } from './conversation.mjs';

/**
 * What a request is answered with.
 * @typedef {object} Message
 * @property {'message'} kind
 * @property {string} thinking '' for none
 * @property {string} text
 * @property {readonly {name: string, args: string}[]} calls
 * @property {number} slowMs pause before each piece of the stream
 * @property {{input: number, output: number} | undefined} usage reported tokens; by default they are counted
 */
/** @typedef {{kind: 'error', status: number, message: string}} Failure */
/** @typedef {{kind: 'hang'}} Hang the request is accepted and never answered */
/** @typedef {Message | Failure | Hang} Reply */

/**
 * @typedef {object} Script what the directives of one prompt ask for
 * @property {string | undefined} text
 * @property {string} thinking
 * @property {(readonly {name: string, args: string}[])[]} steps the calls of each step, in order
 * @property {{name: string, args: string} | undefined} loop
 * @property {number} slowMs
 * @property {{input: number, output: number} | undefined} usage
 * @property {{times: number, status: number, step: number} | undefined} fail
 * @property {Failure | Hang | undefined} instead
 */

/** Directives stand on lines of their own or, for a prompt typed on one line, between `;;`. */
const SEPARATOR = /\n|\s;;\s/;

/**
 * @param {import('./conversation.mjs').Conversation} conversation
 * @returns {Script | undefined} undefined when the newest prompt holds no directive
 */
export function scriptOf(conversation) {
  const { prompt } = newestTurn(conversation.said);
  /** @type {Script} */
  const script = {
    text: undefined,
    thinking: '',
    steps: [],
    loop: undefined,
    slowMs: 0,
    usage: undefined,
    fail: undefined,
    instead: undefined,
  };
  let found = false;
  for (const line of prompt.split(SEPARATOR)) {
    const [, word, rest = ''] = /^!(\w+)\s*(.*)$/.exec(line.trim()) ?? [];
    if (word === undefined) continue;
    found = true;
    obey(script, word, rest, conversation);
  }
  return found ? script : undefined;
}

/**
 * @param {Script} script
 * @param {string} word
 * @param {string} rest
 * @param {import('./conversation.mjs').Conversation} conversation
 */
function obey(script, word, rest, conversation) {
  const words = rest.split(/\s+/).filter(Boolean);
  switch (word) {
    case 'say':
      script.text = rest;
      return;
    case 'big':
      script.text = 'x'.repeat(count(words[0], 0));
      return;
    case 'think':
      script.thinking = rest;
      return;
    case 'tool':
      script.steps.push([callOf(rest)]);
      return;
    case 'tools': {
      const calls = /** @type {[string, unknown][]} */ (JSON.parse(rest));
      script.steps.push(calls.map(([name, args]) => ({ name, args: JSON.stringify(args) })));
      return;
    }
    case 'loop':
      script.loop = callOf(rest);
      return;
    case 'slow':
      script.slowMs = count(words[0], 0);
      return;
    case 'usage':
      script.usage = { input: count(words[0], 0), output: count(words[1], 0) };
      return;
    case 'fail':
      script.fail = {
        times: count(words[0], 1),
        status: count(words[1], 503),
        step: count(words[2], 0),
      };
      return;
    case 'status':
      script.instead = {
        kind: 'error',
        status: count(words[0], 500),
        message: words.slice(1).join(' ') || 'The demo model was told to fail.',
      };
      return;
    case 'overflow': {
      const chars = conversation.said.reduce((sum, message) => sum + message.text.length, 0);
      if (chars > count(words[0], -1))
        script.instead = {
          kind: 'error',
          status: 400,
          message: "This model's maximum context length is exceeded (context_length_exceeded).",
        };
      return;
    }
    case 'hang':
      script.instead = { kind: 'hang' };
      return;
    default:
      script.text = `The demo model does not know the directive !${word}.`;
  }
}

/** @param {string | undefined} word @param {number} otherwise */
function count(word, otherwise) {
  const value = Number(word ?? '');
  return word !== undefined && Number.isFinite(value) ? value : otherwise;
}

/** @param {string} rest `NAME JSON` */
function callOf(rest) {
  const [, name = '', args = ''] = /^(\S+)\s*(.*)$/.exec(rest) ?? [];
  return { name, args: args === '' ? '{}' : args };
}

/**
 * The reply that a script asks for at this step of the turn.
 * @param {Script} script
 * @param {import('./conversation.mjs').Conversation} conversation
 * @param {number} failures how often this step of this prompt was refused already
 * @returns {Reply}
 */
export function performed(script, conversation, failures) {
  if (script.instead) return script.instead;
  const { prompt, after } = newestTurn(conversation.said);
  const step = stepOf(after);
  if (script.fail && script.fail.step === step && failures < script.fail.times)
    return {
      kind: 'error',
      status: script.fail.status,
      message: 'The demo model is busy. Please try again.',
    };
  const calls = script.steps[step] ?? (script.loop ? [script.loop] : []);
  const shared = { slowMs: script.slowMs, usage: script.usage, thinking: script.thinking };
  if (calls.length > 0) return { kind: 'message', ...shared, text: '', calls };
  const result = after.findLast(message => message.role === 'tool');
  const text =
    script.text ??
    (result
      ? `The tool said: ${result.text.trim().slice(0, 200)}`
      : `I was told: ${prompt.split(SEPARATOR)[0]?.trim().slice(0, 200) ?? ''}`);
  return { kind: 'message', ...shared, text, calls: [] };
}
