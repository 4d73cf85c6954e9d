import assert from 'node:assert/strict';
import { readArchive } from '../../extension/cli/readArchive';
import { Sandbox, viewOf } from '../support/pi';

const BYTES = 31 * 1024 * 1024;

const LARGE = `
export default pi => pi.registerTool({
  name: 'large', label: 'large', description: 'gives more than one message of the link can carry',
  parameters: { type: 'object', properties: {} },
  execute: async () => ({
    content: [{ type: 'text', text: 'first words ' + 'x'.repeat(${BYTES}) + ' last words' }],
    details: undefined,
  }),
});`;

describe('a tool of the real Pi that returns 31 MiB', function () {
  this.timeout(180_000);
  let box: Sandbox;
  before(async () => {
    box = await Sandbox.make({ contextWindow: 50_000_000 });
    box.addExtension('large', LARGE);
    await box.host();
  });
  after(async () => {
    await box.close();
  });

  it('is remembered whole, and the session goes on with its memory', async () => {
    const first = await box.print('call it ;; !tool large {} ;; !say it was large');
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, /it was large/);
    const next = await box.print('--continue', 'and then ;; !say fine');
    assert.equal(next.code, 0, next.stderr);
    assert.match(next.stdout, /fine/);

    const { state } = await readArchive(box.archives[0] ?? assert.fail());
    const branch = state.branch(state.newest) ?? assert.fail();
    const large = Array.from({ length: branch.records }, (_, i) => i).find(
      i => branch.record(i).bytes > BYTES,
    );
    assert.ok(large !== undefined, 'no record is that large');
    const raw = await branch.raw(large);
    assert.ok(raw.includes(`first words ${'x'.repeat(BYTES)} last words`));

    // The live turn carried all of it; the turn after it carries the memory of it.
    const [, live] = box.turns;
    assert.ok((live?.raw.length ?? 0) > BYTES);
    const last = box.turns.at(-1) ?? assert.fail();
    assert.match(viewOf(last) ?? '', /call it[^]*it was large/);
    assert.ok(last.raw.length < 200_000, `${last.raw.length} bytes`);
    assert.equal(last.historyBytes, 0);
  });
});
