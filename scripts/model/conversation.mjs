// What a request says, whichever of the two wire formats it came in.

/**
 * @typedef {object} Call
 * @property {string} id
 * @property {string} name
 * @property {string} args JSON text
 */

/**
 * One message as the replies are planned from it. An Anthropic user message that carries tool results is several.
 * @typedef {object} Said
 * @property {'system' | 'user' | 'assistant' | 'tool'} role
 * @property {string} text the text blocks, joined
 * @property {readonly Call[]} calls only on assistant messages
 */

/**
 * @typedef {object} Conversation
 * @property {string} model
 * @property {readonly string[]} tools names of the declared tools
 * @property {readonly Said[]} said
 */

/** @typedef {Record<string, unknown>} Json */

/** @param {unknown} value @returns {Json} */
const object = value =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? /** @type {Json} */ (value) : {};

/** @param {unknown} value @returns {readonly unknown[]} */
const list = value => (Array.isArray(value) ? value : []);

/** @param {unknown} value */
const string = value => (typeof value === 'string' ? value : '');

/**
 * The text of a message's content: a string as it is, text blocks joined with nothing between them.
 * @param {unknown} content
 * @returns {string}
 */
export function textOf(content) {
  if (typeof content === 'string') return content;
  return list(content)
    .map(part => string(object(part)['text']))
    .join('');
}

/**
 * @param {unknown} body a request of `/v1/chat/completions`
 * @returns {Conversation}
 */
export function fromOpenAi(body) {
  const request = object(body);
  return {
    model: string(request['model']),
    tools: list(request['tools']).map(tool => string(object(object(tool)['function'])['name'])),
    said: list(request['messages']).map(value => {
      const message = object(value);
      const calls = list(message['tool_calls']).map(item => {
        const call = object(item);
        const target = object(call['function']);
        return { id: string(call['id']), name: string(target['name']), args: string(target['arguments']) };
      });
      return { role: roleOf(message['role']), text: textOf(message['content']), calls };
    }),
  };
}

/**
 * @param {unknown} body a request of `/v1/messages`
 * @returns {Conversation}
 */
export function fromAnthropic(body) {
  const request = object(body);
  /** @type {Said[]} */
  const said = [];
  const system = textOf(request['system']);
  if (system !== '') said.push({ role: 'system', text: system, calls: [] });
  for (const value of list(request['messages'])) {
    const message = object(value);
    const content = message['content'];
    const blocks =
      typeof content === 'string' ? [{ type: 'text', text: content }] : list(content).map(object);
    const text = blocks
      .filter(block => block['type'] === 'text')
      .map(block => string(block['text']))
      .join('');
    if (message['role'] !== 'user') {
      const calls = blocks
        .filter(block => block['type'] === 'tool_use')
        .map(block => ({
          id: string(block['id']),
          name: string(block['name']),
          args: JSON.stringify(block['input'] ?? {}),
        }));
      said.push({ role: roleOf(message['role']), text, calls });
      continue;
    }
    const results = blocks.filter(block => block['type'] === 'tool_result');
    for (const result of results) said.push({ role: 'tool', text: textOf(result['content']), calls: [] });
    if (text !== '' || results.length === 0) said.push({ role: 'user', text, calls: [] });
  }
  return {
    model: string(request['model']),
    tools: list(request['tools']).map(t => string(object(t)['name'])),
    said,
  };
}

/** @param {unknown} role @returns {Said['role']} */
function roleOf(role) {
  switch (role) {
    case 'assistant':
    case 'user':
    case 'tool':
      return role;
    default:
      // `developer` is how newer models of this format are given their instructions.
      return 'system';
  }
}

/**
 * The newest submission: the last user message and everything after it.
 * @param {readonly Said[]} said
 * @returns {{prompt: string, after: readonly Said[]}}
 */
export function newestTurn(said) {
  const at = said.findLastIndex(message => message.role === 'user');
  return at < 0 ? { prompt: '', after: said } : { prompt: said[at]?.text ?? '', after: said.slice(at + 1) };
}

/**
 * How many steps with tool calls a turn has had.
 * @param {readonly Said[]} after the messages after its prompt
 */
export const stepOf = after =>
  after.filter(message => message.role === 'assistant' && message.calls.length > 0).length;

/**
 * The lines of the memory that a request carries: the first user message that starts with `<chat>`.
 * @param {readonly Said[]} said
 * @returns {readonly string[]} lines as `start+count|text`; empty when there is no such message
 */
export function memoryLines(said) {
  const view = said.find(message => message.role === 'user' && message.text.startsWith('<chat>'));
  return view ? view.text.split('\n').filter(line => /^\d+\+\d+\|/.test(line)) : [];
}
