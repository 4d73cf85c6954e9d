import assert from 'node:assert/strict';
import type { FrozenView } from '../../../extension/archive/requests';
import type { TurnId } from '../../../extension/archive/ids';
import { entriesSince } from '../../../extension/pi/marker';
import type { PiEntry, PiMessage } from '../../../extension/pi/piTypes';
import { anchorIn, liveTurn, projected } from '../../../extension/pi/projection';
import { SessionTree } from './sessionTree';

/** As Pi turns an entry into messages. */
function messagesOf(entry: PiEntry): PiMessage[] {
  if (entry.type === 'message') return [entry.message];
  if (entry.type !== 'custom_message') return [];
  const { customType, content, display } = entry;
  return [{ role: 'custom', customType, content, display, timestamp: Date.parse(entry.timestamp) }];
}

const view: FrozenView = {
  turn: 'e0' as TurnId,
  records: 2,
  blocks: ['<chat>\none\n', 'two\n</chat>'],
  bytes: 22,
  sha256: '',
};
const user = (text: string, timestamp: number): PiMessage => ({
  role: 'user',
  content: [{ type: 'text', text }],
  timestamp,
});

function project(tree: SessionTree, marker: string, messages: readonly PiMessage[]): PiMessage[] | undefined {
  const after = entriesSince(tree, marker);
  assert.ok(after);
  const parent = tree.getEntry(marker)?.parentId;
  const live = liveTurn(parent ? tree.getEntry(parent) : undefined, after, messagesOf);
  assert.ok(live);
  const anchor = anchorIn(messages, live);
  if (anchor < 0) return undefined;
  return projected(messages, anchor, view, all => all.findLast(message => message.role === 'system'));
}

function conversation() {
  const tree = new SessionTree();
  tree.system();
  tree.user('earlier');
  tree.assistant('earlier answer');
  const marker = tree.marker();
  tree.system();
  tree.user('the prompt');
  tree.assistant('a step');
  const messages = tree.entries.flatMap(messagesOf);
  return { tree, marker, messages };
}

const texts = (messages: readonly PiMessage[] | undefined) =>
  messages?.map(message => ('content' in message ? JSON.stringify(message.content) : message.role));

describe('the projection of a request', () => {
  it('is the folded instructions, the view and the whole live turn', () => {
    const { tree, marker, messages } = conversation();
    const result = project(tree, marker, messages);
    assert.equal(result?.[0], messages[3]);
    assert.deepEqual(result?.[1], {
      role: 'user',
      content: view.blocks.map(text => ({ type: 'text', text })),
      timestamp: 0,
    });
    assert.deepEqual(result?.slice(2), messages.slice(4));
  });

  it('keeps the prompt and what other extensions added around it', () => {
    const { tree, marker, messages } = conversation();
    const reminder = user('REMINDER', 1);
    const result = project(tree, marker, [...messages, reminder]);
    assert.deepEqual(result?.slice(2), [...messages.slice(4), reminder]);
    const before = project(tree, marker, [reminder, ...messages]);
    assert.deepEqual(before?.slice(2), messages.slice(4));
  });

  it('is not cut short by a copy of the prompt at the end', () => {
    const { tree, marker, messages } = conversation();
    const prompt = messages[4];
    assert.ok(prompt);
    const result = project(tree, marker, [...messages, structuredClone(prompt)]);
    assert.deepEqual(texts(result?.slice(2)), texts([...messages.slice(4), prompt]));
  });

  it('is refused when the prompt was changed or removed', () => {
    const { tree, marker, messages } = conversation();
    assert.equal(
      project(
        tree,
        marker,
        messages.filter((_, i) => i !== 4),
      ),
      undefined,
    );
    const changed = messages.map((message, i) => (i === 4 ? user('other', message.timestamp) : message));
    assert.equal(project(tree, marker, changed), undefined);
  });

  it('starts with another extension’s message that came before the prompt, whatever time it carries', () => {
    const tree = new SessionTree();
    tree.custom('the same words');
    const marker = tree.marker();
    tree.custom('the same words');
    tree.user('the prompt');
    const messages = tree.entries.flatMap(messagesOf);
    const held = messages[1];
    assert.ok(held?.role === 'custom');
    // Made before its entry was written.
    messages[1] = { ...held, timestamp: held.timestamp - 400 };
    const result = project(tree, marker, messages);
    assert.deepEqual(result?.slice(1), messages.slice(1));
  });

  it('follows an edit of the turn itself', () => {
    const { tree, marker } = conversation();
    const prompt = tree.entries[5];
    assert.ok(prompt?.type === 'message');
    tree.edit(prompt.id, 'the prompt, reworded');
    const messages = tree.entries
      .flatMap(messagesOf)
      .map(message =>
        message === prompt.message ? { ...message, content: 'the prompt, reworded' } : message,
      );
    const result = project(tree, marker, messages as PiMessage[]);
    assert.match(texts(result)?.[2] ?? '', /reworded/);
  });

  it('has no view message while nothing is remembered', () => {
    const { messages } = conversation();
    const result = projected(messages, 4, { ...view, blocks: [] }, () => undefined);
    assert.deepEqual(result, messages.slice(4));
  });
});
