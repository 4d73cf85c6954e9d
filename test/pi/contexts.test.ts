import assert from 'node:assert/strict';
import { mark } from '../support/conversation';
import { Sandbox, outline, viewOf } from '../support/pi';
import { reasonIn, type PiRpc } from '../support/piRpc';

/** Two extensions of the user's around ours, whose handlers do what the newest prompt says. */
const handlers = (side: string) => `
const acts = {
  changes: messages => ({ messages: messages.map(one => one.role === 'user' ? { ...one, content: 'something else' } : one) }),
  mutates: messages => void messages.forEach(one => { if (one.role === 'user') one.content = 'something else'; }),
  removes: messages => ({ messages: messages.filter(one => one.role !== 'user') }),
  empties: () => ({ messages: [] }),
  forgets: messages => ({ messages: messages.slice(-1) }),
  appends: messages => ({ messages: [...messages, { role: 'user', content: [{ type: 'text', text: 'APPENDED' }], timestamp: 1 }] }),
  nulls: messages => ({ messages: [null, ...messages, 7] }),
  garbage: () => ({ messages: 'garbage' }),
  throws: () => { throw new Error('not ours'); },
};
export default pi => {
  let prompt = '';
  pi.on('before_agent_start', event => void (prompt = event.prompt ?? ''));
  for (const hook of ['context', 'context_with_system'])
    pi.on(hook, event => {
      const [, act] = new RegExp(' ${side} our ' + hook + ' (\\\\w+)').exec(prompt + ' ') ?? [];
      return act && acts[act](event.messages);
    });
};
`;

type Fate = 'served' | 'stopped';
const BEFORE_OURS: readonly (readonly [hook: string, act: string, fate: Fate])[] = [
  ['context', 'changes', 'stopped'],
  ['context', 'mutates', 'stopped'],
  ['context', 'removes', 'stopped'],
  ['context', 'empties', 'stopped'],
  ['context', 'forgets', 'served'],
  ['context', 'appends', 'served'],
  ['context', 'nulls', 'stopped'],
  ['context', 'garbage', 'stopped'],
  ['context', 'throws', 'served'],
  ['context_with_system', 'changes', 'stopped'],
  ['context_with_system', 'nulls', 'stopped'],
  ['context_with_system', 'throws', 'served'],
];

describe('another extension that handles the context', () => {
  let box: Sandbox;
  let pi: PiRpc;
  let turn = 0;
  before(async () => {
    box = await Sandbox.make();
    // Ours is `strata.js`, and Pi loads by name.
    box.addExtension('a-before', handlers('before'));
    box.addExtension('z-after', handlers('after'));
    await box.host();
    pi = box.rpc();
    await pi.prompt(`first ${mark(++turn)} ;; !say kept`);
  });
  after(async () => {
    assert.ok(pi.isRunning);
    await pi.close();
    await box.close();
  });

  /** A turn beside it: what left, none of it raw history. */
  async function beside(side: string, hook: string, act: string) {
    const before = box.turns.length;
    const events = await pi.prompt(`${mark(++turn)} ${side} our ${hook} ${act} ;; !say done`);
    const sent = box.turns.slice(before);
    for (const request of sent) assert.equal(request.historyBytes, 0, 'raw history left');
    return { events, sent };
  }

  for (const [hook, act, fate] of BEFORE_OURS)
    it(`before ours: ${hook} ${act}, and the turn is ${fate}`, async () => {
      const { events, sent } = await beside('before', hook, act);
      if (fate === 'stopped') {
        assert.equal(sent.length, 0);
        assert.match(reasonIn(events), /Memory failed, so this request was not sent/);
        return;
      }
      const [request] = sent;
      assert.ok(request && sent.length === 1);
      assert.match(viewOf(request) ?? '', /kept/);
      const live = outline(request).filter(line => line !== 'system' && line !== 'view');
      assert.match(live[0] ?? '', new RegExp(`^user .* before our ${hook} ${act}`));
      assert.deepEqual(live.slice(1), act === 'appends' ? ['user APPENDED'] : []);
    });

  for (const act of ['changes', 'removes', 'empties', 'forgets', 'appends', 'nulls', 'garbage', 'throws'])
    it(`after ours: context_with_system ${act}, and no raw history leaves`, async () => {
      await beside('after', 'context_with_system', act);
    });

  it('leaves the memory of the next turn whole', async () => {
    const { sent } = await beside('nowhere', 'near', 'nothing');
    const view = viewOf(sent[0] ?? assert.fail()) ?? '';
    assert.equal(view.match(/\|user: /g)?.length, turn - 1);
  });
});
