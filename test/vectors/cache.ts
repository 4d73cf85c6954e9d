import { isObject } from '../../extension/archive/json';
import { markBlocks } from '../../extension/pi/cacheMark';
import { fieldsOf, type Handler } from './vector';

interface Case {
  readonly blocks: number;
  readonly marks: readonly unknown[];
  readonly target_marked?: boolean;
  readonly view_matches?: boolean;
  readonly anthropic?: boolean;
}

/** A payload as Pi makes it, with the marks on the system's blocks but for one that stands on the view. */
function payloadOf({ blocks, marks, target_marked: onView, view_matches: matches }: Case, texts: string[]) {
  const marked = (mark: unknown) => (mark === undefined ? {} : { cache_control: mark });
  const elsewhere = onView ? marks.slice(1) : marks;
  const content = texts.map((text, i) => ({
    type: 'text',
    text: matches === false ? `${text}!` : text,
    ...marked(onView && i === blocks - 2 ? marks[0] : undefined),
  }));
  return {
    system: elsewhere.map(mark => ({ type: 'text', text: 'persona', ...marked(mark) })),
    messages: [{ role: 'user', content }],
  };
}

export const cache_policy: Handler = vector => {
  const { input, expect } = fieldsOf<{ input: Case[]; expect: string[] }>(vector);
  const actual = input.map(each => {
    const texts = Array.from({ length: each.blocks }, (_, i) => `block ${i}`);
    const payload = payloadOf(each, texts);
    const before = JSON.stringify(payload);
    const api = each.anthropic === false ? 'openai-completions' : 'anthropic-messages';
    const marking = markBlocks(payload, api, texts);
    if (JSON.stringify(payload) !== before) return 'the payload was changed';
    if (marking.state === 'unchanged') return `unchanged:${marking.why}`;
    const [message] = marking.payload['messages'] as { content: unknown[] }[];
    const first = JSON.stringify(each.marks[0]);
    const copied = message?.content.findIndex(
      block => isObject(block) && JSON.stringify(block['cache_control']) === first,
    );
    return `mark:${copied}`;
  });
  return { expected: expect, actual };
};
