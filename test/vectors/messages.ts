import { recordsOf } from '../../extension/archive/normalise';
import { parseMessage } from '../../extension/archive/parseMessage';
import { fieldsOf, type Handler } from './vector';

/** The file leaves the wording of the presence marker to us and names Pi's own wording instead of quoting it. */
const OUR_WORDS: readonly (readonly [inFile: string, ours: string])[] = [
  ['<marker:image>', '[image]'],
  [
    "<host branch-summary wrapper around 'tried A'>",
    'The following is a summary of a branch that this conversation came back from:\n\n<summary>\ntried A</summary>',
  ],
];

export const normalise: Handler = vector => {
  const { input, expect } = fieldsOf<{ input: object[]; expect: [string, string][][] }>(vector);
  const actual = input.map(raw => {
    const message = parseMessage(raw);
    return message ? recordsOf(message).map(({ kind, text }) => [kind, text]) : [];
  });
  const expected = expect.map(records =>
    records.map(([kind, text]) => [
      kind,
      OUR_WORDS.reduce((words, [inFile, ours]) => words.replaceAll(inFile, ours), text),
    ]),
  );
  return { expected, actual };
};
