import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../scripts/tools.mjs';
import { Sandbox } from '../support/pi';
import { orphansOf, rememberedIn, storedBeforeLastTurn } from '../support/remembered';
import { Saboteur, type Moment } from '../support/saboteur';

const run = promisify(execFile);
const strata = async (...args: string[]) =>
  (await run(process.execPath, [path.join(ROOT, 'dist/cli.mjs'), ...args])).stdout;

/** A turn of four messages whose every text is its own. */
const turn = (name: string) =>
  `ask ${name} ;; !tool bash {"command":"printf ${name}"} ;; !say answer ${name}`;

/**
 * Where Pi dies in such a turn; how many of its messages Pi itself has written by then; and whose acknowledged message
 * is ahead of Pi's file, if any.
 */
const MOMENTS: readonly (Moment & { readonly kept: number; readonly ahead?: string })[] = [
  { hook: 'session_start', side: 'before', kept: 0 },
  { hook: 'session_start', side: 'after', kept: 0 },
  { hook: 'input', side: 'before', kept: 0 },
  { hook: 'input', side: 'after', kept: 0 },
  { hook: 'before_agent_start', side: 'before', kept: 0 },
  { hook: 'before_agent_start', side: 'after', kept: 0 },
  { hook: 'message_end', role: 'user', side: 'before', kept: 0 },
  { hook: 'message_end', role: 'user', side: 'after', kept: 0, ahead: 'user' },
  { hook: 'context', side: 'before', kept: 1 },
  { hook: 'context_with_system', side: 'after', kept: 1 },
  { hook: 'before_provider_request', side: 'before', kept: 1 },
  { hook: 'before_provider_request', side: 'after', kept: 1 },
  { hook: 'after_provider_response', side: 'before', kept: 1 },
  { hook: 'after_provider_response', side: 'after', kept: 1 },
  { hook: 'message_end', role: 'assistant', side: 'before', kept: 1 },
  { hook: 'message_end', role: 'assistant', side: 'after', kept: 1, ahead: 'assistant' },
  { hook: 'tool_call', side: 'before', kept: 2 },
  { hook: 'tool_call', side: 'after', kept: 2 },
  { hook: 'message_end', role: 'toolResult', side: 'before', kept: 2 },
  { hook: 'message_end', role: 'toolResult', side: 'after', kept: 2, ahead: 'toolResult' },
  { hook: 'turn_end', side: 'before', kept: 3 },
  { hook: 'turn_end', side: 'after', kept: 3 },
  { hook: 'agent_settled', side: 'before', kept: 4 },
  { hook: 'agent_settled', side: 'after', kept: 4 },
  { hook: 'session_shutdown', side: 'before', kept: 4 },
];

/** Each continued by a new Pi: nothing acknowledged is lost, and the view has each message of the file once, in order. */
describe('a Pi that is killed', () => {
  let box: Sandbox;
  let saboteur: Saboteur;
  const orphans: string[] = [];
  before(async () => {
    box = await Sandbox.make();
    saboteur = Saboteur.join(box);
    await box.host();
    const { code } = await box.print(turn('begun'));
    assert.equal(code, 0);
  });
  after(async () => {
    await box.close();
  });

  async function killedAt(moment: Moment, ...args: string[]): Promise<void> {
    saboteur.kill(moment);
    const { code, stderr } = await box.print(...args);
    assert.ok(saboteur.done, `Pi never came there. ${stderr}`);
    assert.equal(code, null, 'Pi ended by itself');
  }

  for (const [at, { kept, ahead, ...moment }] of MOMENTS.entries()) {
    const { hook, role, side } = moment;
    it(`${side} our ${hook}${role === undefined ? '' : ` of ${role}`} goes on from its file`, async () => {
      const [name, next] = [`k${at}k`, `n${at}n`];
      await killedAt(moment, '-c', turn(name));
      if (ahead !== undefined) orphans.push(ahead);
      const [archive] = box.archives;
      assert.ok(archive !== undefined);
      assert.equal(box.sessionFiles.length, 1);

      const { code, stderr } = await box.print('-c', turn(next));
      assert.equal(code, 0, stderr);
      const request = box.turns.at(-1);
      const remembered = rememberedIn(request);
      assert.deepEqual(remembered, storedBeforeLastTurn(box.sessionFiles[0] ?? ''));
      assert.equal(remembered.filter(line => line.includes(name)).length, kept);
      assert.equal(request?.historyBytes, 0);
      assert.deepEqual(await orphansOf(archive), orphans);
      assert.deepEqual(box.archives, [archive]);
    });
  }

  it('is forgotten by no archive: what was acknowledged is there, and the archive is sound', async () => {
    const [archive = ''] = box.archives;
    assert.equal(orphans.length, 3);
    assert.match(await strata('status', archive), /, 3 messages on none\n/);
    assert.match(await strata('verify', archive), /3 finished messages are on no branch/);
    for (const [at, { ahead }] of MOMENTS.entries())
      if (ahead !== undefined) assert.match(box.archived, new RegExp(`k${at}k`));
  });

  it('before Pi had a session file leaves its prompt in the archive, and the next session as it would be', async () => {
    const files = box.sessionFiles.length;
    const first = box.archives;
    await killedAt(
      { hook: 'message_end', role: 'user', side: 'after' },
      '--session-id',
      'early',
      'an early prompt',
    );
    assert.equal(box.sessionFiles.length, files, 'Pi had written its file');
    const [archive = ''] = box.archives.filter(folder => !first.includes(folder));
    assert.match(await strata('status', archive), /Session early in .*0 records.*1 message on none/s);
    assert.match(box.archived, /an early prompt/);

    // The very same session id, as a script would start it again.
    for (const [args, before] of [
      [['--session-id', 'early', 'again ;; !say fresh'], []],
      [
        ['-c', 'and on ;; !say later'],
        ['user: again ;; !say fresh', 'talk: fresh'],
      ],
    ] as const) {
      const { code, stderr } = await box.print(...args);
      assert.equal(code, 0, stderr);
      assert.deepEqual(rememberedIn(box.turns.at(-1)), before);
    }
    assert.equal(box.sessionFiles.length, files + 1);
    assert.equal(box.archives.length, 2);
    assert.deepEqual(await orphansOf(archive), ['user']);
  });
});

/** Hooks that no turn has: a person at the screen calls them, here over RPC. `cache_warming_decision` comes after minutes. */
describe('a Pi that is killed between turns', () => {
  const model = (modelId: string) => ({ request: 'set_model', fields: { provider: 'demo', modelId } });
  const KILLS = [
    { hook: 'model_select', side: 'before', ...model('demo-2') },
    { hook: 'model_select', side: 'after', ...model('demo-3') },
    // Ours says no, and then Pi asks nobody after us.
    { hook: 'session_before_compact', side: 'before', request: 'compact', fields: {} },
  ] as const;
  let box: Sandbox;
  before(async () => {
    box = await Sandbox.make({
      models: [{ id: 'demo-2' }, { id: 'demo-3' }],
      // So that there always is something Pi would compact.
      settings: { compaction: { keepRecentTokens: 10 } },
    });
    await box.host();
  });
  after(() => box.close());

  for (const { hook, side, request, fields } of KILLS)
    it(`${side} our ${hook} goes on from its file`, async () => {
      const saboteur = Saboteur.join(box);
      const pi = box.rpc(...(box.sessionFiles.length > 0 ? ['-c'] : []));
      await pi.prompt(turn(`${hook}${side}`));
      saboteur.kill({ hook, side });
      const exit = pi.exited;
      pi.send(request, fields).catch(() => undefined);
      await exit;
      assert.ok(saboteur.done, `Pi never came there. ${pi.errors}`);
      const { code, stderr } = await box.print('-c', turn('next'));
      assert.equal(code, 0, stderr);
      const remembered = rememberedIn(box.turns.at(-1));
      assert.deepEqual(remembered, storedBeforeLastTurn(box.sessionFiles[0] ?? ''));
      assert.equal(remembered.filter(line => line.includes(`${hook}${side}`)).length, 4);
      assert.equal(box.turns.at(-1)?.historyBytes, 0);
      assert.deepEqual(await orphansOf(box.archives[0] ?? ''), []);
    });
});
