import { concatText, leafMethod, parentMethod } from '../../extension/archive/node';
import { rawText, type RecordKind } from '../../extension/archive/record';
import { SizeAttempts } from '../../extension/archive/sizeAttempts';
import { utf8Bytes } from '../../extension/archive/text';
import { fieldsOf, type Handler } from './vector';

type Text = string | { readonly repeat: string; readonly times: number | null; readonly text: string | null };

export const leaf_method: Handler = vector => {
  const { input, expect } = fieldsOf<{ input: [RecordKind, Text][]; expect: object[] }>(vector);
  const actual = input.map(([kind, form]) => {
    const text = typeof form === 'string' ? form : (form.text ?? form.repeat.repeat(form.times ?? 1));
    const raw = rawText({ kind, text, timestamp: 0 });
    return { method: leafMethod(utf8Bytes(raw)), bytes: utf8Bytes(raw) };
  });
  return { expected: expect, actual };
};

export const parent_method: Handler = vector => {
  const { input, expect } = fieldsOf<{ input: [string, string][]; expect: object[] }>(vector);
  const actual = input.map(([left, right]) => ({
    method: parentMethod(utf8Bytes(left), utf8Bytes(right)),
    bytes: utf8Bytes(concatText(left, right)),
  }));
  return { expected: expect, actual };
};

/** Each input is a job's completed replies in bytes, 0 for an empty one. */
export const attempts: Handler = vector => {
  const { input, options, expect } = fieldsOf<{
    input: number[][];
    options?: { node: number; tries: number };
    expect: object[];
  }>(vector);
  const actual = input.map(replies => {
    const job = new SizeAttempts(options?.node, options?.tries);
    for (const [i, bytes] of replies.entries()) {
      // The number first, so that equally long replies can be told apart.
      const verdict = job.offer(bytes === 0 ? '' : String(i + 1).padEnd(bytes, 'x'));
      if (verdict === 'failed') return { failed: 'empty', attempts: job.attempts };
      if (verdict === 'publish') {
        return {
          published: utf8Bytes(job.line),
          fromAttempt: Number.parseInt(job.line, 10),
          attempts: job.attempts,
          oversized: job.oversized,
        };
      }
    }
    return 'neither published nor failed';
  });
  return { expected: expect, actual };
};
