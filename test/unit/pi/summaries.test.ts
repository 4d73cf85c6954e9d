import assert from 'node:assert/strict';
import type { SummaryRequest } from '../../../extension/archive/ports';
import { summarize, type SummaryModel } from '../../../extension/pi/summaries';

interface Call {
  readonly context: {
    systemPrompt: string;
    messages: { role: string; content: { text: string }[] }[];
    tools?: unknown;
  };
  readonly options: { maxTokens: number; maxRetries: number; reasoning?: string; signal: AbortSignal };
}

const request: SummaryRequest = {
  system: 'shorten',
  blocks: ['one', 'two'],
  retries: [{ reply: 'too long', feedback: 'shorter, please' }],
  maxOutputTokens: 1_000,
  timeoutMs: 60_000,
};
const usage = { input: 5, output: 2, cacheRead: 1, cacheWrite: 0, totalTokens: 8, cost: { total: 0.5 } };

/** A registry that records the call and answers with what `answer` gives. */
function source(
  answer: (call: Call) => object | Promise<object>,
  reasoning = false,
): { readonly from: SummaryModel; readonly calls: Call[] } {
  const calls: Call[] = [];
  const streamSimple = (_model: unknown, context: Call['context'], options: Call['options']) => {
    const call = { context, options };
    calls.push(call);
    const result = Promise.resolve().then(() => answer(call));
    // As Pi's own streams: one event when the request is made, others when it is answered.
    async function* events() {
      yield { type: 'start' };
      await result;
      yield { type: 'done' };
    }
    return { result: () => result, [Symbol.asyncIterator]: events };
  };
  const model = { provider: 'p', id: 'm', name: 'Model', api: 'a', reasoning, maxTokens: 400 };
  return { calls, from: { registry: { streamSimple }, model } as unknown as SummaryModel };
}

const quiet = () => new AbortController().signal;

describe('a summary by the session’s model', () => {
  it('is one conversation without tools: the blocks, then each reply with what was wrong about it', async () => {
    const { from, calls } = source(() => ({
      stopReason: 'stop',
      content: [{ type: 'text', text: 'short' }],
      usage,
    }));
    const reply = await summarize(from, request, quiet());
    assert.deepEqual(reply, {
      ok: true,
      text: 'short',
      model: 'p/m',
      usage: { input: 5, output: 2, cacheRead: 1, cacheWrite: 0, cost: 0.5 },
    });
    const [call] = calls;
    assert.equal(call?.context.systemPrompt, 'shorten');
    assert.equal(call?.context.tools, undefined);
    assert.deepEqual(
      call?.context.messages.map(({ role, content }) => [role, content.map(({ text }) => text)]),
      [
        ['user', ['one', 'two']],
        ['assistant', ['too long']],
        ['user', ['shorter, please']],
      ],
    );
    assert.equal(call?.options.maxTokens, 400);
    assert.equal(call?.options.maxRetries, 0);
    assert.equal(call?.options.reasoning, undefined);
  });

  it('thinks at medium where the model thinks, and leaves the thoughts out', async () => {
    const content = [
      { type: 'thinking', thinking: 'private' },
      { type: 'text', text: 'short' },
    ];
    const { from, calls } = source(() => ({ stopReason: 'stop', content, usage }), true);
    const reply = await summarize(from, request, quiet());
    assert.ok(reply.ok && reply.text === 'short');
    assert.equal(calls[0]?.options.reasoning, 'medium');
  });

  it('never rejects: a failure is an answer', async () => {
    const failed = source(() => ({ stopReason: 'error', errorMessage: 'quota', content: [], usage }));
    assert.deepEqual(await summarize(failed.from, request, quiet()), { ok: false, reason: 'quota' });
    const thrown = source(() => Promise.reject(new Error('broken')));
    assert.deepEqual(await summarize(thrown.from, request, quiet()), { ok: false, reason: 'broken' });
    const empty = source(() => ({ stopReason: 'length', content: [{ type: 'text', text: ' ' }], usage }));
    assert.equal((await summarize(empty.from, request, quiet())).ok, false);
    assert.equal((await summarize(undefined, request, quiet())).ok, false);
  });

  it('waits until the first of those that begin alike was taken, and then all go at once', async () => {
    let answer = (): void => {};
    const answered = new Promise<void>(resolve => (answer = resolve));
    const done = { stopReason: 'stop', content: [{ type: 'text', text: 'short' }], usage };
    const { from, calls } = source(async () => {
      await answered;
      return done;
    });
    const asked = ['a', 'b', 'c'].map(task =>
      summarize(from, { ...request, blocks: ['what both begin with', task] }, quiet()),
    );
    const other = summarize(from, { ...request, blocks: ['something else', 'd'] }, quiet());
    await new Promise(resolve => setImmediate(resolve));
    assert.equal(calls.length, 2, 'one of each beginning');
    answer();
    for (const reply of await Promise.all([...asked, other])) assert.ok(reply.ok);
    assert.equal(calls.length, 4);
  });

  it('is not held up for ever by one that fails, nor after it was cancelled', async () => {
    const { from, calls } = source(() => Promise.reject(new Error('broken')));
    const both = await Promise.all([summarize(from, request, quiet()), summarize(from, request, quiet())]);
    assert.deepEqual(
      both,
      Array.from({ length: 2 }, () => ({ ok: false, reason: 'broken' })),
    );
    assert.equal(calls.length, 2);
    const never = source(() => new Promise(() => undefined));
    const cancel = new AbortController();
    const unanswered = { ...request, blocks: ['nobody answers', 'this'] };
    void summarize(never.from, unanswered, quiet());
    void summarize(never.from, unanswered, cancel.signal);
    await new Promise(resolve => setImmediate(resolve));
    assert.equal(never.calls.length, 1);
    cancel.abort();
    await new Promise(resolve => setImmediate(resolve));
    // Its own request says that it was cancelled; what matters is that nobody waits any more.
    assert.equal(never.calls.length, 2);
    assert.ok(never.calls[1]?.options.signal.aborted);
  });

  it('ends at the owner’s time limit and when the owner cancels', async () => {
    const aborted = (call: Call) =>
      new Promise<object>(resolve => {
        const end = () => resolve({ stopReason: 'aborted', content: [], usage });
        if (call.options.signal.aborted) end();
        else call.options.signal.addEventListener('abort', end);
      });
    const late = await summarize(source(aborted).from, { ...request, timeoutMs: 20 }, quiet());
    assert.deepEqual(late, { ok: false, reason: 'Model took longer than 0.02 s.' });
    const cancel = new AbortController();
    const waiting = summarize(source(aborted).from, request, cancel.signal);
    cancel.abort();
    assert.equal((await waiting).ok, false);
  });
});
