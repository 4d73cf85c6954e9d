import { sha256Hex } from '../../extension/archive/canonical';
import { oneLine, utf8Bytes } from '../../extension/archive/text';
import { blocksOf, lineOf, renderView } from '../../extension/archive/view';
import { addressOf } from './addresses';
import { fieldsOf, type Handler } from './vector';

export const render: Handler = vector => {
  const { input, expect } = fieldsOf<{ input: [string, string][][]; expect: object[] }>(vector);
  const actual = input
    .map(lines => renderView(lines.map(([a, text]) => lineOf(addressOf(a), text))))
    .map(text => ({ text, bytes: utf8Bytes(text) }));
  return { expected: expect, actual };
};

export const one_line: Handler = vector => {
  const { input, expect } = fieldsOf<{ input: string[]; expect: string[] }>(vector);
  return { expected: expect, actual: input.map(oneLine) };
};

export const blocks: Handler = vector => {
  const { line, expect, sample9 } = fieldsOf<{
    line: string;
    expect: { lines: number }[];
    sample9: string[];
  }>(vector);
  const blocksOfLines = (n: number): string[] =>
    blocksOf(Array.from({ length: n }, (_, i) => line.replaceAll('{i}', String(i))));
  const actual = expect.map(({ lines }) => {
    const made = blocksOfLines(lines);
    return {
      lines,
      blocks: made.length,
      bytes: made.map(utf8Bytes),
      markedBlock: made.length < 2 ? null : made.length - 2,
      sha256: sha256Hex(made.join('\0')),
    };
  });
  return { expected: { rows: expect, sample9 }, actual: { rows: actual, sample9: blocksOfLines(9) } };
};
