// The demo face of the model: a small, believable conversation about the sample project, without directives.
import { memoryLines, newestTurn, stepOf } from './conversation.mjs';

/** @typedef {import('./conversation.mjs').Conversation} Conversation */
/** @typedef {import('./directives.mjs').Reply} Reply */
/** @typedef {{name: string, args: object}} Wish a tool call this model would like to make */

/**
 * What the model knows when it plans its next message.
 * @typedef {object} Scene
 * @property {string} prompt
 * @property {readonly string[]} results the outputs of this turn's tools, in order
 * @property {readonly string[]} memory the lines of the view
 * @property {number} turns user messages in the request, this one too
 */
/**
 * One thing that can be asked.
 * @typedef {object} Topic
 * @property {RegExp} asked
 * @property {((scene: Scene) => readonly Wish[])[]} steps the calls of each step; a step without calls ends the turn
 * @property {(scene: Scene) => string} answer
 */

/** A path with an extension, as people write it in a sentence. */
const FILE = /(?:[\w-]+\/)*[\w-]+\.(?:m?js|ts|json|md|txt)\b/;

/** @type {readonly Topic[]} */
const TOPICS = [
  {
    asked: /\b(remember|recall|so far|did (i|we)|memory)\b/i,
    steps: [],
    answer: ({ memory, turns }) => {
      if (memory.length === 0)
        return turns > 1
          ? `I was given no memory: our ${turns - 1} earlier messages to me came along as they were.`
          : 'Nothing yet: this is the first turn, so there is no past to remember.';
      const asked = memory.map(line => /\|user: (.*)/.exec(line)?.[1]).filter(text => text !== undefined);
      const lines = `${memory.length} ${memory.length === 1 ? 'line' : 'lines'}`;
      return [
        `Before this question I was given ${lines} of memory in place of our past. Among them, you said:`,
        '',
        ...asked.slice(-6).map(text => `- ${clip(text ?? '', 100)}`),
        '',
        'Open a line in the Memory view to get back to the original.',
      ].join('\n');
    },
  },
  {
    asked: /\badd (an? |some )?[a-z]+/i,
    steps: [
      () => [{ name: 'read', args: { path: 'src/teas.js' } }],
      ({ prompt, results }) => {
        const tea = teaIn(prompt);
        if (results[0]?.includes(`'${tea.name}'`)) return [];
        const oldText = 'export const teas = [\n';
        const row = `  { name: '${tea.name}', degrees: ${tea.degrees}, minutes: ${tea.minutes} },\n`;
        return [
          { name: 'edit', args: { path: 'src/teas.js', edits: [{ oldText, newText: oldText + row }] } },
        ];
      },
      () => [{ name: 'bash', args: { command: 'node --test' } }],
    ],
    answer: ({ prompt, results }) => {
      const tea = teaIn(prompt);
      if (results.length < 3) return `${capital(tea.name)} is in the table already; I changed nothing.`;
      return `${capital(tea.name)} is in \`src/teas.js\` now: ${tea.degrees} °C for ${tea.minutes} minutes. ${testsSaid(results[2] ?? '')}`;
    },
  },
  {
    asked: /\btests?\b(?!\/|\.)/i,
    steps: [() => [{ name: 'bash', args: { command: 'node --test' } }]],
    answer: ({ results }) => testsSaid(results[0] ?? ''),
  },
  {
    asked: /\b(please keep|prefer|always|never|don't|do not|i like|should stay)\b/i,
    steps: [],
    answer: ({ prompt }) => `Noted, and I will keep to it: "${clip(sentences(prompt)[0] ?? prompt, 120)}"`,
  },
  {
    asked: FILE,
    steps: [({ prompt }) => [{ name: 'read', args: { path: FILE.exec(prompt)?.[0] ?? 'README.md' } }]],
    answer: ({ prompt, results }) => described(FILE.exec(prompt)?.[0] ?? 'README.md', results[0] ?? ''),
  },
  {
    asked: /\b(look|list|files|project|overview|explain|where|show)\b/i,
    steps: [
      () => [
        { name: 'bash', args: { command: 'ls -1 src/* test/*' } },
        { name: 'read', args: { path: 'README.md' } },
      ],
    ],
    answer: ({ results }) => {
      const sources = (results[0] ?? '').split('\n').filter(line => FILE.test(line));
      const about = sentences(results[1] ?? '')[0] ?? 'It has no README.';
      return `${about} The code is in ${sources.map(name => `\`${name.trim()}\``).join(', ')}. Ask me about one of them, or say "test".`;
    },
  },
  {
    asked: /\b(hi|hello|hey|help|what can)\b|^\W*$/i,
    steps: [],
    answer: () =>
      [
        'I am a small demo model that runs on this machine: no account, no network, no cost. Try:',
        '',
        '- **look**: what this project is',
        '- **test**: run its tests',
        '- **add oolong at 90 degrees for 4 minutes**: change a file',
        '- **what do you remember?**: what memory gave me in place of our past',
      ].join('\n'),
  },
  {
    asked: /\b(thanks?|thank you|great|good|nice|ok)\b/i,
    steps: [],
    answer: () => 'You are welcome. It is all in memory, whenever you want it back.',
  },
];

/** @type {Topic} */
const ANYTHING = {
  asked: /.*/,
  steps: [],
  answer: ({ prompt, memory }) =>
    [
      `You said: "${clip(prompt.trim(), 80)}". I am only a demo model, so that is as far as I get.`,
      memory.length > 0 ? `Memory gave me ${memory.length} lines of our past to go with it.` : '',
      'Say **help** for what I can do.',
    ]
      .filter(Boolean)
      .join(' '),
};

/**
 * @param {Conversation} conversation
 * @returns {Reply}
 */
export function demoReply(conversation) {
  const { prompt, after } = newestTurn(conversation.said);
  const topic = TOPICS.find(one => one.asked.test(prompt)) ?? ANYTHING;
  const results = after.filter(message => message.role === 'tool').map(message => message.text);
  const turns = conversation.said.filter(message => message.role === 'user').length;
  const scene = { prompt, results, memory: memoryLines(conversation.said), turns };
  const wishes = topic.steps[stepOf(after)]?.(scene) ?? [];
  // A tool that this Pi does not offer is left out: the answer then says what could not be found.
  const calls = wishes
    .filter(wish => conversation.tools.includes(wish.name))
    .map(wish => ({ name: wish.name, args: JSON.stringify(wish.args) }));
  const text = calls.length > 0 ? '' : topic.answer(scene);
  return { kind: 'message', thinking: '', text, calls, slowMs: 12, usage: undefined };
}

/** @param {string} prompt `add oolong at 90 degrees for 4 minutes` */
function teaIn(prompt) {
  const [, name = 'oolong'] = /\badd (?:an? |some )?([a-z]+)/i.exec(prompt) ?? [];
  const [, degrees = '95'] = /(\d+)\s*(?:°|degrees|c\b)/i.exec(prompt) ?? [];
  const [, minutes = '3'] = /(\d+)\s*min/i.exec(prompt) ?? [];
  return { name: name.toLowerCase(), degrees: Number(degrees), minutes: Number(minutes) };
}

/** @param {string} output of `node --test`, in either of its two forms */
function testsSaid(output) {
  const number = (/** @type {string} */ word) => new RegExp(`(?:#|ℹ) ${word} (\\d+)`).exec(output)?.[1];
  const [pass, fail] = [number('pass'), number('fail')];
  if (pass === undefined) return `The tests did not run: ${clip(output.trim(), 120)}`;
  const failed = /^(?:not ok \d+ - |✖ )(.+)$/m.exec(output)?.[1];
  return fail === '0'
    ? `All ${pass} tests pass.`
    : `${pass} tests pass and ${fail} fail${failed ? `; the first is "${failed.trim()}"` : ''}.`;
}

/** @param {string} path @param {string} text */
function described(path, text) {
  const lines = text.split('\n');
  const exports = [...text.matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm)].map(
    match => `\`${match[1]}\``,
  );
  const own = /^(?:\/\/|#) ?(.+)$/m.exec(text)?.[1] ?? sentences(text)[0];
  return [
    `\`${path}\` has ${lines.length} lines.`,
    own ? `It says of itself: "${clip(own, 140)}"` : '',
    exports.length > 0 ? `It exports ${exports.join(', ')}.` : '',
  ]
    .filter(Boolean)
    .join(' ');
}

/** @param {string} markdown @returns {string[]} */
const sentences = markdown =>
  markdown
    .split('\n\n')
    .filter(paragraph => /^\w/.test(paragraph))
    .flatMap(paragraph => paragraph.replace(/\s+/g, ' ').split(/(?<=[.!?]) /));

/** @param {string} text @param {number} characters */
const clip = (text, characters) =>
  text.length <= characters ? text : `${text.slice(0, characters).replace(/\s+\S*$/, '')} …`;

/** @param {string} word */
const capital = word => word.slice(0, 1).toUpperCase() + word.slice(1);
