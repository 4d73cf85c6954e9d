import { isObject } from '../archive/json';

/** Why a payload is sent as it is (spec/archive.md 4.7). */
export type Unmarked =
  'api' | 'no-complete-block' | 'view-changed' | 'opt-out' | 'unknown-policy' | 'mixed-ttl' | 'saturated';
export type Marking =
  | { readonly state: 'marked'; readonly block: number; readonly payload: Payload }
  | { readonly state: 'unchanged'; readonly why: Unmarked };

type Payload = Readonly<Record<string, unknown>>;

/** As many marks as Anthropic takes. */
const MOST_MARKS = 4;
const TTLS: ReadonlySet<unknown> = new Set([undefined, '5m', '1h']);

/**
 * Puts a cache mark on the last complete one of these blocks, the first user message's leading ones, so that the next
 * request reads what is before it from the provider's cache: a copy of the first mark that is there, or none where the
 * host or the person wants none (spec/archive.md 4.7). The caller's payload stays as it is.
 */
export function markBlocks(payload: unknown, api: string, blocks: readonly string[]): Marking {
  if (api !== 'anthropic-messages' || !isObject(payload) || !Array.isArray(payload['messages']))
    return { state: 'unchanged', why: 'api' };
  const block = blocks.length - 2;
  if (block < 0) return { state: 'unchanged', why: 'no-complete-block' };
  const messages = payload['messages'] as readonly unknown[];
  const at = messages.findIndex(message => isObject(message) && message['role'] === 'user');
  const message = messages[at];
  const content =
    isObject(message) && Array.isArray(message['content']) ? (message['content'] as unknown[]) : [];
  if (!startsWith(content, blocks)) return { state: 'unchanged', why: 'view-changed' };
  const marks = marksIn(payload);
  const why = refusal(marks);
  if (why) return { state: 'unchanged', why };
  const target = content[block] as Payload;
  if (target['cache_control'] !== undefined) return { state: 'marked', block, payload };
  if (marks.length >= MOST_MARKS) return { state: 'unchanged', why: 'saturated' };
  const marked = { ...target, cache_control: { ...(marks[0] as object) } };
  const changed = { ...(message as Payload), content: content.with(block, marked) };
  return { state: 'marked', block, payload: { ...payload, messages: messages.with(at, changed) } };
}

function startsWith(content: readonly unknown[], blocks: readonly string[]): boolean {
  return blocks.every((text, i) => {
    const block = content[i];
    return isObject(block) && block['type'] === 'text' && block['text'] === text;
  });
}

/** Every mark where the API defines them; the same word among a tool call's arguments is none. */
function marksIn(payload: Payload): readonly unknown[] {
  const marks: unknown[] = [];
  const look = (blocks: unknown): void => {
    if (!Array.isArray(blocks)) return;
    for (const block of blocks as readonly unknown[]) {
      if (!isObject(block)) continue;
      const { cache_control: mark } = block;
      if (mark !== undefined && mark !== null) marks.push(mark);
      if (block['type'] === 'tool_result') look(block['content']);
    }
  };
  look(payload['system']);
  look(payload['tools']);
  for (const message of payload['messages'] as readonly unknown[])
    if (isObject(message)) look(message['content']);
  return marks;
}

function refusal(marks: readonly unknown[]): Unmarked | undefined {
  if (marks.length === 0) return 'opt-out';
  const known = marks.every(mark => isObject(mark) && mark['type'] === 'ephemeral' && TTLS.has(mark['ttl']));
  if (!known) return 'unknown-policy';
  const ttls = new Set(marks.map(mark => (mark as Payload)['ttl'] ?? '5m'));
  return ttls.size > 1 ? 'mixed-ttl' : undefined;
}
