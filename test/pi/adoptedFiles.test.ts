import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readArchive } from '../../extension/cli/readArchive';
import { Sandbox } from '../support/pi';
import type { PiRpc } from '../support/piRpc';
import { rememberedIn, storedBeforeLastTurn } from '../support/remembered';
import { entriesOf, headerOf, placeSession } from '../support/sessionFiles';

const noticesOf = (pi: PiRpc) =>
  pi.events.filter(event => event['method'] === 'notify').map(event => String(event['message']));
const fixture = (name: string) => readFileSync(`test/fixtures/sessions/${name}.jsonl`, 'utf8').split('\n');

describe('a session file that Strata finds', () => {
  let box: Sandbox;
  before(async () => {
    box = await Sandbox.make();
    await box.host();
  });
  after(async () => {
    await box.close();
  });

  const last = () => box.turns.at(-1) ?? assert.fail('no request');
  /** One more turn of the session in `file`: what was remembered, and what Pi told the person. */
  async function turnOf(file: string): Promise<{ remembered: string[]; notices: string[] }> {
    const pi = box.rpc('--session', file);
    await pi.prompt('on we go ;; !say gone on');
    const remembered = rememberedIn(last());
    assert.equal(last().historyBytes, 0);
    await pi.close();
    assert.deepEqual(
      pi.events.filter(event => event.type === 'extension_error'),
      [],
    );
    return { remembered, notices: noticesOf(pi) };
  }
  const records = (count: number) =>
    Array.from({ length: count }, (_, n) => `${n % 2 === 0 ? 'user' : 'talk'}: text ${n}`);
  const lines = (count: number) => entriesOf(count, n => `text ${n}`).map(entry => JSON.stringify(entry));
  /** All branches of the newest archive, by their records. */
  async function branches(id: string): Promise<string[][]> {
    for (const archive of box.archives) {
      const { state, config } = await readArchive(archive);
      if (config.sessionId !== id) continue;
      return Promise.all(
        state.tips().map(async tip => {
          const branch = state.branch(tip.chain) ?? assert.fail();
          return Promise.all(Array.from({ length: branch.records }, (_, n) => branch.raw(n)));
        }),
      );
    }
    return assert.fail(`no archive of ${id}`);
  }

  it('with a torn tail and two appends behind it: all is remembered, and the person is told', async () => {
    const whole = lines(22);
    const file = placeSession(box, 'torn', [
      headerOf(box, 'torn'),
      ...whole.slice(0, 20),
      // What a crash left of an entry, and the next one behind it on the same line.
      `{"type":"message","id":"gone","parentId":"e19","timestamp":"2026-01-01T0${whole[20] ?? ''}`,
      whole[21] ?? '',
      '',
    ]);
    const { remembered, notices } = await turnOf(file);
    assert.deepEqual(remembered, records(22));
    assert.equal(notices.filter(text => /never finished.*Memory has all of it/.test(text)).length, 1);
    const again = await turnOf(file);
    assert.deepEqual(again.remembered, [...records(22), 'user: on we go ;; !say gone on', 'talk: gone on']);
    assert.equal((await branches('torn')).length, 1);
  });

  it('with a torn last line loses that line alone', async () => {
    const whole = lines(11);
    const torn = (whole[10] ?? '').slice(0, 90);
    const file = placeSession(box, 'tail', [headerOf(box, 'tail'), ...whole.slice(0, 10), torn]);
    const { remembered } = await turnOf(file);
    assert.deepEqual(remembered, records(10));
    assert.deepEqual((await turnOf(file)).remembered.slice(0, 10), records(10));
  });

  it('with a line in it that cannot be read: what stands before is kept as a branch, and the person is told', async () => {
    const whole = lines(16);
    whole[9] = (whole[9] ?? '').replace('"text', '"te\u0000\\');
    const file = placeSession(box, 'cut', [headerOf(box, 'cut'), ...whole, '']);
    const { remembered, notices } = await turnOf(file);
    assert.deepEqual(remembered, records(16).slice(10));
    assert.equal(
      notices.filter(text => /cannot be read.*kept in the archive as a branch/.test(text)).length,
      1,
    );
    const [before, live] = await branches('cut');
    assert.deepEqual(before, records(9));
    assert.deepEqual(live?.slice(0, 6), records(16).slice(10));
    await turnOf(file);
    assert.equal((await branches('cut')).length, 2);
  });

  for (const [what, entry] of [
    ['a label', { type: 'label', targetId: 'e3', label: 'here' }],
    ['a session name', { type: 'session_info', name: 'A name' }],
  ] as const)
    it(`whose last line is ${what} goes on from there`, async () => {
      const id = entry.type.replace('_', '-');
      const end = { ...entry, id: 'end', parentId: 'e9', timestamp: '2026-01-02T00:00:00.000Z' };
      const file = placeSession(box, id, [headerOf(box, id), ...lines(10), end, '']);
      assert.deepEqual((await turnOf(file)).remembered, records(10));
      assert.equal((await branches(id)).length, 1);
    });

  for (const [name, version, first] of [
    ['kitchen-v1', 1, 'user: How long do lentils take?'],
    ['garden-v2', 2, 'user: What grows in the shade?'],
  ] as const)
    it(`of format ${version} is remembered, also after Pi has rewritten it`, async () => {
      const [header = '', ...rest] = fixture(name);
      const id = (JSON.parse(header) as { id: string }).id;
      const file = placeSession(box, name, [
        { ...(JSON.parse(header) as object), cwd: box.project },
        ...rest,
      ]);
      const { remembered } = await turnOf(file);
      assert.equal(remembered[0], first);
      assert.deepEqual(remembered, storedBeforeLastTurn(file));
      assert.ok(remembered.length >= 2);
      assert.deepEqual((await turnOf(file)).remembered, storedBeforeLastTurn(file));
      assert.equal((await branches(id)).length, 1);
    });
});
