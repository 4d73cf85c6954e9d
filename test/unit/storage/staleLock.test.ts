import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { livingHolder } from '../../../extension/storage/livingHolder';
import { tryLock } from '../../../extension/storage/lock';
import { useScratch } from './scratch';

const HOUR = 3_600_000;

// D4 21: what the file says decides nothing, what the operating system says decides all.
describe('A lock that looks stale', function () {
  this.timeout(60_000);
  const folder = useScratch();
  const file = () => path.join(folder(), 'lock');
  const children: ChildProcess[] = [];
  afterEach(() => children.splice(0).forEach(child => child.kill('SIGKILL')));

  async function holder(): Promise<ChildProcess> {
    const child = spawn(process.execPath, [path.join(__dirname, 'lock.child.cjs'), 'hold', file()], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    const [said] = (await once(child.stdout, 'data')) as [Buffer];
    assert.equal(said.toString(), 'held\n');
    return child;
  }

  async function killed(child: ChildProcess): Promise<Record<string, unknown>> {
    const said = JSON.parse(readFileSync(file(), 'utf8')) as Record<string, unknown>;
    assert.equal(said['pid'], child.pid);
    assert.ok(child.pid !== undefined && process.kill(child.pid, 0));
    child.kill('SIGKILL');
    await once(child, 'close');
    return said;
  }

  async function isFree(): Promise<void> {
    const taken = await tryLock(file());
    assert.ok(taken.state === 'held', taken.state);
    assert.equal((JSON.parse(readFileSync(file(), 'utf8')) as { pid: number }).pid, process.pid);
    await taken.lock.release();
  }

  /** Each way in which a file can look as if its holder were gone, or alive. */
  function looks(said: Record<string, unknown>): [string, Record<string, unknown>][] {
    return [
      ['of a process id that is in use again', { ...said, pid: process.ppid }],
      ['of a process id that nobody has', { ...said, pid: 2 ** 22 + 1 }],
      ['from an hour in the future: the clock was set back', { ...said, startedAt: Date.now() + HOUR }],
      ['from years ago', { ...said, startedAt: 1 }],
      ['of a machine that has another name now', { ...said, host: 'renamed.example' }],
      ['of another start of the machine', { ...said, bootId: 'another' }],
    ];
  }

  it('is free once its holder is dead, whatever the dead one left in the file', async () => {
    const said = await killed(await holder());
    await isFree();
    for (const [what, text] of looks(said)) {
      writeFileSync(file(), JSON.stringify(text));
      utimesSync(file(), new Date(Date.now() + HOUR), new Date(Date.now() + HOUR));
      await isFree().catch((e: unknown) => assert.fail(`${what}: ${String(e)}`));
    }
  });

  it('stays taken while its holder lives, whatever the file says', async () => {
    const child = await holder();
    const said = JSON.parse(readFileSync(file(), 'utf8')) as Record<string, unknown>;
    for (const [what, text] of [...looks(said), ['empty', {}] as const]) {
      writeFileSync(file(), JSON.stringify(text));
      utimesSync(file(), new Date(1), new Date(1));
      assert.equal((await tryLock(file())).state, 'busy', what);
    }
    assert.equal(child.exitCode, null);
    await killed(children[0] as ChildProcess).catch(() => undefined);
  });

  it('names no living holder to people for a process id that is in use again after a restart', async () => {
    const said = await killed(await holder());
    writeFileSync(file(), JSON.stringify({ ...said, pid: process.pid, bootId: 'another' }));
    assert.equal(await livingHolder(folder()), undefined);
    writeFileSync(file(), JSON.stringify({ ...said, pid: process.pid, host: 'renamed.example' }));
    assert.equal(await livingHolder(folder()), undefined);
  });
});
