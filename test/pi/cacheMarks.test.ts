import assert from 'node:assert/strict';
import { Sandbox, type Received } from '../support/pi';

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly cache_control?: { readonly type: string; readonly ttl?: string };
}
interface Body {
  readonly system?: readonly Block[];
  readonly tools?: readonly Block[];
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Block[] }[];
}

/** The blocks of the message that carries the view. */
function viewBlocks({ body }: Received): readonly Block[] {
  const { content } = (body as Body).messages[0] ?? assert.fail();
  assert.ok(typeof content !== 'string');
  const end = content.findIndex(({ text }) => text?.endsWith('</chat>'));
  return content.slice(0, end + 1);
}
const markedIn = (request: Received): number[] =>
  viewBlocks(request).flatMap((block, i) => (block.cache_control ? [i] : []));
function marksOf({ body }: Received): NonNullable<Block['cache_control']>[] {
  const { system = [], tools = [], messages } = body as Body;
  const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  return [...system, ...tools, ...blocks].flatMap(block => block.cache_control ?? []);
}

/** Another extension, before ours, that takes away every mark or all there are. */
const MARKS = `export default pi => pi.on('before_provider_request', ({ payload }) => {
  const { NO_MARKS, ALL_MARKS } = process.env;
  if (!NO_MARKS && !ALL_MARKS) return undefined;
  const plain = JSON.parse(JSON.stringify(payload, (key, value) => (key === 'cache_control' ? undefined : value)));
  if (NO_MARKS) return plain;
  const mark = i => ({ type: 'text', text: 'part ' + i, cache_control: { type: 'ephemeral' } });
  return { ...plain, system: [0, 1, 2, 3].map(mark) };
});`;

/** As Pi's own adapter for Anthropic sends it to a server on this machine. */
describe("the provider's cache", function () {
  this.timeout(120_000);
  let box: Sandbox;
  before(async () => {
    box = await Sandbox.make({ api: 'anthropic-messages' });
    box.addExtension('a-marks', MARKS);
    await box.host();
    const pi = box.rpc();
    // Two records and more a turn: enough for several blocks of four lines.
    for (let turn = 1; turn <= 7; turn++) await pi.prompt(`turn ${turn} ;; !say answer ${turn}`);
    await pi.close();
  });
  after(() => box.close());

  async function asked(env: Record<string, string> = {}): Promise<Received> {
    box.moreEnv = env;
    const { code, stderr } = await box.print('-c', 'again ;; !say once more');
    assert.equal(code, 0, stderr);
    return box.turns.at(-1) ?? assert.fail();
  }

  it('is told of the last block of the view that stays as it is, in the way the host marks its own', async () => {
    const request = await asked();
    const blocks = viewBlocks(request);
    assert.ok(blocks.length >= 4, `${blocks.length} blocks`);
    assert.deepEqual(markedIn(request), [blocks.length - 2]);
    const marks = marksOf(request);
    assert.ok(marks.length >= 2 && marks.length <= 4, JSON.stringify(marks));
    assert.equal(new Set(marks.map(mark => JSON.stringify(mark))).size, 1);
  });

  it('is told for as long as the host tells it', async () => {
    const request = await asked({ PI_CACHE_RETENTION: 'long' });
    const marks = marksOf(request);
    assert.equal(markedIn(request).length, 1);
    assert.deepEqual(new Set(marks.map(({ ttl }) => ttl)), new Set(['1h']));
  });

  it('is told nothing where the host marks nothing', async () => {
    const request = await asked({ NO_MARKS: '1' });
    assert.deepEqual(marksOf(request), []);
  });

  it('is told nothing more when all marks are taken, and the request goes out as it was', async () => {
    const request = await asked({ ALL_MARKS: '1' });
    assert.equal(marksOf(request).length, 4);
    assert.deepEqual(markedIn(request), []);
  });

  it('is told nothing of a view that another extension changed, and the person is told once', async () => {
    box.addExtension(
      'z-changes',
      `export default pi => pi.on('context_with_system', ({ messages }) => {
        if (!process.env.CHANGE_VIEW) return undefined;
        return { messages: messages.map(message => JSON.stringify(message.content)?.includes('<chat>')
          ? { ...message, content: message.content.map(block => ({ ...block, text: block.text.replace('turn 1', 'turn one') })) }
          : message) };
      });`,
    );
    box.moreEnv = { CHANGE_VIEW: '1' };
    const pi = box.rpc('-c');
    const events = [...(await pi.prompt('changed ;; !say yes')), ...(await pi.prompt('again ;; !say yes'))];
    await pi.close();
    const request = box.turns.at(-1) ?? assert.fail();
    assert.match(JSON.stringify(request.body), /turn one/);
    assert.deepEqual(markedIn(request), []);
    const told = events.filter(event => /Another extension changes/.test(String(event['message'])));
    assert.equal(told.length, 1, JSON.stringify(told));
  });

  it('is told of what summary jobs have in common', async () => {
    box.moreEnv = {};
    const long = 'a story that is much too long for a line of its own, '.repeat(20);
    const pi = box.rpc('-c');
    await pi.prompt(`tell ${long} ;; !say ok`);
    await pi.prompt('next ;; !say ok');
    await pi.close();
    const job = box.model.requests.findLast(request => request.compactor) ?? assert.fail();
    const { content } = (job.body as Body).messages[0] ?? assert.fail();
    assert.ok(typeof content !== 'string' && content.length >= 2);
    const marked = content.flatMap((block, i) => (block.cache_control ? [i] : []));
    assert.ok(marked.includes(content.length - 2), `${JSON.stringify(marked)} of ${content.length}`);
    assert.ok(marksOf(job).length <= 4);
  });
});
