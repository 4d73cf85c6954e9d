import { sha256Hex } from '../../extension/archive/canonical';
import { pageOf, type Page } from '../../extension/archive/page';
import { utf8Bytes } from '../../extension/archive/text';
import { fieldsOf, type Handler } from './vector';

/** Every page of a text, of the usual size if none is given, following `next`. */
function* pagesOf(text: string, limit?: number): Generator<Page & { readonly offset: number }> {
  for (let offset: number | null = 0; offset !== null;) {
    const found: Page | undefined = pageOf(text, offset, limit);
    if (!found) throw new Error(`no page at ${offset}`);
    yield { ...found, offset };
    offset = found.next;
  }
}

interface Repeated {
  readonly unit: string;
  readonly times: number;
  readonly limit: number;
}

export const page: Handler = vector => {
  const { input, expect } = fieldsOf<{ input: Repeated; expect: object[] }>(vector);
  const pages = [...pagesOf(input.unit.repeat(input.times), input.limit)];
  return {
    expected: expect,
    actual: pages.map(({ offset, text, next }) => ({ offset, bytes: utf8Bytes(text), next, text })),
  };
};

export const page_sum: Handler = vector => {
  const { input, expect } = fieldsOf<{ input: Repeated; expect: object }>(vector);
  const whole = input.unit.repeat(input.times);
  const pages = [...pagesOf(whole, input.limit)];
  if (pages.map(({ text }) => text).join('') !== whole) throw new Error('the pages are not the text');
  const sizes = pages.map(({ text }) => utf8Bytes(text));
  const actual = {
    pages: pages.length,
    totalBytes: sizes.reduce((sum, bytes) => sum + bytes, 0),
    // All but the last, which is as short as it is.
    min: Math.min(...sizes.slice(0, -1)),
    max: Math.max(...sizes),
    last: sizes.at(-1),
    sha256: sha256Hex(sizes.join(',')),
  };
  return { expected: expect, actual };
};

export const page_cases: Handler = vector => {
  const { input, expect } = fieldsOf<{ input: [string, number, number][]; expect: unknown[] }>(vector);
  return {
    expected: expect,
    actual: input.map(([text, offset, limit]) => pageOf(text, offset, limit) ?? 'error'),
  };
};

export const page_default: Handler = vector => {
  const { input, expect } = fieldsOf<{
    input: { head: string; headTimes: number; then: string; tail: string; tailTimes: number };
    expect: object;
  }>(vector);
  const text = input.head.repeat(input.headTimes) + input.then + input.tail.repeat(input.tailTimes);
  const [first, second] = [...pagesOf(text)];
  const actual = {
    first: first && { bytes: utf8Bytes(first.text), next: first.next, total: first.bytes },
    second: second && { text: second.text, next: second.next },
  };
  return { expected: expect, actual };
};
