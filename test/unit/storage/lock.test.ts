import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { lockSupport, readLockHolder, tryLock } from '../../../extension/storage/lock';
import { useScratch } from './scratch';

describe('A lock', function () {
  this.timeout(60_000);
  const folder = useScratch();
  const file = () => path.join(folder(), 'lock');
  const children: ChildProcess[] = [];
  afterEach(() => children.splice(0).forEach(c => c.kill('SIGKILL')));

  function run(...args: string[]): ChildProcess {
    const child = spawn(process.execPath, [path.join(__dirname, 'lock.child.cjs'), ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    return child;
  }

  async function holder(): Promise<ChildProcess> {
    const child = run('hold', file());
    assert.ok(child.stdout);
    const [said] = (await once(child.stdout, 'data')) as [Buffer];
    assert.equal(said.toString(), 'held\n');
    return child;
  }

  it('works on this machine', async () => assert.deepEqual(await lockSupport(), { available: true }));

  it('excludes a second holder in the same process, and is free after it was released', async () => {
    const first = await tryLock(file());
    assert.ok(first.state === 'held');
    assert.equal((await tryLock(file())).state, 'busy');
    await first.lock.release();
    const second = await tryLock(file());
    assert.ok(second.state === 'held');
    await first.lock.release();
    assert.equal((await tryLock(file())).state, 'busy');
    await second.lock.release();
  });

  it('names its holder, and is free at once after the holder was killed', async () => {
    const child = await holder();
    const busy = await tryLock(file());
    assert.ok(busy.state === 'busy');
    assert.equal(busy.holder?.pid, child.pid);
    assert.equal(busy.holder?.host, os.hostname());
    assert.equal(busy.holder?.runFile, '/a/run/file.json');
    assert.ok(child.pid !== undefined && process.kill(child.pid, 0));
    child.kill('SIGKILL');
    await once(child, 'close');
    const free = await tryLock(file());
    assert.equal(free.state, 'held');
    if (free.state === 'held') await free.lock.release();
  });

  it('stays with a holder that was stopped, however long', async () => {
    const child = await holder();
    child.kill('SIGSTOP');
    await new Promise(resolve => setTimeout(resolve, 300));
    assert.equal((await tryLock(file())).state, 'busy');
  });

  it('is never held by two of four processes that race for it', async () => {
    const racers = [1, 2, 3, 4].map(() => run('contend', file(), path.join(folder(), 'overlap'), '40'));
    const codes = await Promise.all(racers.map(async r => ((await once(r, 'close')) as [number])[0]));
    assert.deepEqual(codes, [0, 0, 0, 0]);
  });

  it('believes nothing that is written in a free lock file', async () => {
    const living = { pid: process.pid, bootId: 'x', host: os.hostname(), startedAt: 1 };
    for (const text of [JSON.stringify(living), '{"pid":', '', 'x'.repeat(100_000)]) {
      writeFileSync(file(), text);
      const taken = await tryLock(file());
      assert.ok(taken.state === 'held');
      assert.equal((await readLockHolder(file()))?.pid, process.pid);
      await taken.lock.release();
      assert.equal(readFileSync(file(), 'utf8'), '');
    }
  });

  it('is a value that says why where its native part cannot be loaded', async () => {
    // Away from the checkout the program finds no package.
    const program = path.join(folder(), 'lock.child.cjs');
    copyFileSync(path.join(__dirname, 'lock.child.cjs'), program);
    assert.match(
      await saidBy(program),
      /^unavailable File locks do not work on this system .*memory stays off/,
    );
    assert.equal(existsSync(file()), false);
  });

  it('is such a value too on a file system that has none, and nobody is named as its holder', async () => {
    // A fake answers as the system does there: no file system here is without locks.
    const fake = path.join(folder(), 'node_modules/fs-native-extensions');
    mkdirSync(fake, { recursive: true });
    const answer = `exports.tryLock = () => { throw new Error('ENOLCK: no locks available'); };`;
    writeFileSync(path.join(fake, 'index.js'), answer);
    const program = path.join(folder(), 'lock.child.cjs');
    copyFileSync(path.join(__dirname, 'lock.child.cjs'), program);
    const said = await saidBy(program);
    assert.match(said, /^unavailable File locks do not work on this system .*ENOLCK.*memory stays off/);
    assert.equal(readFileSync(file(), 'utf8'), '');
  });

  async function saidBy(program: string): Promise<string> {
    const child = spawn(process.execPath, [program, 'hold', file()], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    assert.ok(child.stdout);
    const [said] = (await once(child.stdout, 'data')) as [Buffer];
    return said.toString();
  }

  it('is not reached through a symbolic link', async () => {
    writeFileSync(path.join(folder(), 'elsewhere'), 'mine');
    symlinkSync('elsewhere', file());
    await assert.rejects(tryLock(file()), /symbolic link/);
    assert.equal(readFileSync(path.join(folder(), 'elsewhere'), 'utf8'), 'mine');
    unlinkSync(file());
  });
});
