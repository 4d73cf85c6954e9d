import assert from 'node:assert/strict';
import fc from 'fast-check';
import { canary } from '../../../scripts/model/history.mjs';
import { signatureOf } from '../../../scripts/model/anthropic.mjs';
import { startModel } from '../../../scripts/model/server.mjs';
import { digest } from '../../../scripts/model/summaries.mjs';

type Model = Awaited<ReturnType<typeof startModel>>;
interface Message {
  readonly role: string;
  readonly content: unknown;
  readonly tool_calls?: unknown;
}

const TOOLS = ['bash', 'read', 'edit'].map(name => ({ type: 'function', function: { name } }));
const RULER = '-'.repeat(512);

/** The final text and the tool calls of one answer, put together from its stream. */
async function chat(model: Model, messages: readonly Message[], tools: readonly unknown[] = TOOLS) {
  const body = JSON.stringify({
    model: 'demo-1',
    stream: true,
    messages,
    ...(tools.length ? { tools } : {}),
  });
  const url = `http://127.0.0.1:${model.port}/v1/chat/completions`;
  const response = await fetch(url, { method: 'POST', body });
  const stream = await response.text();
  let text = '';
  const calls: string[] = [];
  for (const line of stream.split('\n')) {
    if (!line.startsWith('data: {')) continue;
    const chunk = JSON.parse(line.slice(6)) as {
      choices: {
        delta: { content?: string; tool_calls?: { function: { name?: string; arguments: string } }[] };
      }[];
    };
    for (const { delta } of chunk.choices) {
      text += delta.content ?? '';
      for (const call of delta.tool_calls ?? [])
        calls.push((call.function.name ?? '') + call.function.arguments);
    }
  }
  return { status: response.status, text, calls: calls.join(''), stream };
}
const user = (content: unknown): Message => ({ role: 'user', content });

describe('the demo model', () => {
  let model: Model;
  before(async () => {
    model = await startModel();
  });
  after(() => model.close());
  beforeEach(() => {
    model.requests.length = 0;
  });

  it('answers the same request with the same bytes', async () => {
    const messages = [user('Have a look at this project.')];
    const first = await chat(model, messages);
    assert.match(first.calls, /^bash\{.*read\{"path":"README.md"\}$/);
    assert.equal((await chat(model, messages)).stream, first.stream);
  });

  it('goes through the steps of its directives and ends with what it was told to say', async () => {
    const messages: Message[] = [
      user('go\n!tool read {"path":"a"}\n!tools [["bash",{"command":"b"}],["read",{"path":"c"}]]\n!say done'),
    ];
    const step = async () => {
      const reply = await chat(model, messages);
      messages.push({
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'x', function: { name: 'read', arguments: '{}' } }],
      });
      messages.push({ role: 'tool', content: 'ok' });
      return reply;
    };
    assert.equal((await step()).calls, 'read{"path":"a"}');
    assert.equal((await step()).calls, 'bash{"command":"b"}read{"path":"c"}');
    assert.deepEqual(await step().then(({ calls, text }) => [calls, text]), ['', 'done']);
  });

  it('refuses a prompt as often as it was told to, and then answers it', async () => {
    const messages = [user('go\n!fail 2 503\n!say here')];
    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await chat(model, messages)).status);
    assert.deepEqual(statuses, [503, 503, 200]);
    assert.equal((await chat(model, [user('another\n!fail 1 503')])).status, 503);
  });

  it('records every request byte for byte', async () => {
    await chat(model, [user('one é')]);
    const recorded = model.requests[0];
    assert.ok(recorded);
    assert.equal(recorded.raw, JSON.stringify(recorded.body));
    assert.match(recorded.raw, /one é/);
    const listed = (await (await fetch(`http://127.0.0.1:${model.port}/requests`)).json()) as unknown[];
    assert.equal(listed.length, 1);
    await fetch(`http://127.0.0.1:${model.port}/requests`, { method: 'DELETE' });
    assert.equal(model.requests.length, 0);
  });

  it('signs its thoughts in the Anthropic format', async () => {
    const body = JSON.stringify({
      model: 'demo-1',
      messages: [user('go\n!think hm, tea\n!tool read {"path":"a"}')],
    });
    const url = `http://127.0.0.1:${model.port}/anthropic/v1/messages?beta=true`;
    const stream = await (await fetch(url, { method: 'POST', body })).text();
    assert.ok(stream.includes(JSON.stringify(signatureOf('hm, tea'))));
    assert.match(stream, /"type":"tool_use".*"name":"read"/);
    assert.match(stream, /"stop_reason":"tool_use"/);
  });

  it('answers a compactor with one line of the target’s own words', async () => {
    const target = `user: ${'The harbour closes at nine. '.repeat(40)}`;
    const job = [user(`<chat>\nearlier\n</chat>\n${RULER}\nShorten it.\n<target>\n${target}\n</target>`)];
    const { text } = await chat(model, job, []);
    assert.equal(model.requests[0]?.compactor, true);
    assert.match(text, /^user: The harbour closes at nine\. [^\n]*nine\.$/);
    assert.ok(Buffer.byteLength(text) <= 512);
    const again = [...job, { role: 'assistant', content: text }, user('Too long.')];
    assert.equal((await chat(model, again, [])).text, text);
  });

  it('answers a compactor too long as often as the target says', async () => {
    const job = [user(`${RULER}\nShorten it.\n<target>\nuser: !summary long 1 and more\n</target>`)];
    const first = await chat(model, job, []);
    assert.ok(Buffer.byteLength(first.text) > 512);
    const second = await chat(model, [...job, { role: 'assistant', content: first.text }, user('No.')], []);
    assert.ok(Buffer.byteLength(second.text) <= 512);
  });

  it('never makes a summary longer than it may be, nor two lines of it', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 3000 }),
        fc.integer({ min: 32, max: 600 }),
        (text, max) => {
          const line = digest(text, max);
          assert.ok(Buffer.byteLength(line) <= max, `${Buffer.byteLength(line)} of ${max}`);
          assert.ok(!line.includes('\n'));
        },
      ),
    );
  });

  it('counts text of earlier turns outside the view, and nothing else', async () => {
    const [one, two] = [canary(1, '0123456789abcdef'), canary(2, 'fedcba9876543210')];
    const view = user(`<chat>\n0+1|user: ${one}\n</chat>`);
    await chat(model, [view, user(`now ${two}\n!say ok`)]);
    assert.equal(model.requests.at(-1)?.historyBytes, 0);
    const old = `before ${one}`;
    await chat(model, [user(old), { role: 'assistant', content: 'yes' }, user(`now ${two}\n!say ok`)]);
    assert.equal(model.requests.at(-1)?.historyBytes, Buffer.byteLength(old));
    // A second block that looks like a view is no view.
    await chat(model, [view, view, user(`now ${two}\n!say ok`)]);
    assert.ok((model.requests.at(-1)?.historyBytes ?? 0) > 0);
    // The live turn may hold its own canary anywhere.
    await chat(model, [view, user(`now ${two}\n!say ok`), { role: 'tool', content: two }]);
    assert.equal(model.requests.at(-1)?.historyBytes, 0);
  });
});
