import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Sandbox } from '../support/pi';
import { filesWith, processesWith } from '../support/secretSearch';

/** What a tool of the agent can see of its own process, in the file NAME; then it stays for others to look at. */
const LOOK = (name: string) =>
  `env > ${name}; cat /proc/$$/environ /proc/$PPID/environ /proc/$PPID/cmdline >> ${name}; touch ${name}.done; sleep 20`;

describe('the token of the link', () => {
  let box: Sandbox;
  before(async () => {
    box = await Sandbox.make();
  });
  after(async () => {
    await box.close();
  });

  /** The token in the only run file of this kind, which no other file and no process has. */
  function nowhereElse(kind: 'host-' | 'pi-'): string {
    const folder = path.join(box.root, 'run');
    const names = readdirSync(folder).filter(name => name.startsWith(kind));
    assert.equal(names.length, 1);
    const runFile = path.join(folder, names[0] ?? '');
    const { token } = JSON.parse(readFileSync(runFile, 'utf8')) as { token: string };
    assert.match(token, /^[0-9a-f]{64}$/);
    assert.deepEqual(filesWith(token, box.dir), [runFile]);
    const sockets = path.join(os.tmpdir(), `strata-${process.getuid?.()}`);
    assert.deepEqual(filesWith(token, sockets), []);
    assert.deepEqual(processesWith(token), []);
    return token;
  }

  it('is in the run file and nowhere else: no process, log, setting, session, archive or request', async () => {
    const host = await box.host();
    const pi = box.rpc();
    const from = pi.events.length;
    await pi.prompt('before ;; !say one');
    const token = nowhereElse('host-');

    await pi.start(`look ;; !tool bash ${JSON.stringify({ command: LOOK('seen') })} ;; !say two`);
    const done = path.join(box.project, 'seen.done');
    for (let i = 0; !existsSync(done); i++) {
      assert.ok(i < 200, 'the tool did not run');
      await new Promise(resolve => setTimeout(resolve, 100));
    }
    // While the window, Pi and a tool of Pi's are running.
    host.assertRunning();
    assert.ok(pi.isRunning);
    nowhereElse('host-');
    await pi.send('abort');
    await pi.until('the end', event => event.type === 'agent_settled', 20_000, from);
    assert.match(
      readFileSync(path.join(box.project, 'seen'), 'latin1'),
      /PI_SESSION_ID=/,
      'the tool has looked',
    );

    // A window that died says something in the logs, and the next owner has a token of its own.
    await host.kill();
    await pi.prompt('nobody is there ;; !say three');
    await pi.close();
    assert.ok(box.model.requests.length > 0);
    const requests = box.model.requests.map(request => request.raw);
    for (const said of [host.log, pi.errors, JSON.stringify(pi.events), ...requests])
      assert.ok(!said.includes(token));
  });

  it('of a Pi that serves its session itself is as well kept', async () => {
    const pi = box.rpc();
    await pi.prompt('alone ;; !say one');
    const token = nowhereElse('pi-');
    await pi.close();
    assert.ok(!`${pi.errors}${JSON.stringify(pi.events)}`.includes(token));
  });

  it('would be found by this search', async () => {
    const canary = `canary-${Math.random()}`;
    // Both wait for their standard input.
    const child = spawn('cat', [], { env: { PATH: process.env['PATH'], CANARY: canary } });
    const other = spawn('sh', ['-c', 'read x', canary]);
    await Promise.all([once(child, 'spawn'), once(other, 'spawn')]);
    try {
      const found = processesWith(canary);
      assert.ok(found.includes(`/proc/${child.pid}/environ`));
      assert.ok(found.includes(`/proc/${other.pid}/cmdline`));
    } finally {
      await Promise.all([child, other].map(one => (one.stdin.end(), once(one, 'close'))));
    }
    const file = path.join(box.project, 'canary');
    writeFileSync(file, Buffer.concat([Buffer.alloc(10, 0xff), Buffer.from(canary)]));
    assert.deepEqual(filesWith(canary, box.dir), [file]);
  });
});
