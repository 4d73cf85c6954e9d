import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { livingHolder } from '../../../extension/storage/livingHolder';
import { tryLock } from '../../../extension/storage/lock';

describe('who owns an archive, for people', () => {
  let dir: string;
  beforeEach(() => (dir = fs.mkdtempSync(path.join(os.tmpdir(), 'strata-holder-'))));
  afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));
  const file = () => path.join(dir, 'lock');

  it('is the process that holds the lock, and nobody once it let go', async () => {
    assert.equal(await livingHolder(dir), undefined);
    const locked = await tryLock(file());
    assert.equal(locked.state, 'held');
    assert.equal((await livingHolder(dir))?.pid, process.pid);
    if (locked.state === 'held') await locked.lock.release();
    assert.equal(await livingHolder(dir), undefined);
  });

  it('is nobody when the file was left behind: by a dead process, another start, another machine, or as rubbish', async () => {
    const locked = await tryLock(file());
    assert.ok(locked.state === 'held');
    const good = JSON.parse(fs.readFileSync(file(), 'utf8')) as Record<string, unknown>;
    await locked.lock.release();
    const written = async (text: string) => {
      fs.writeFileSync(file(), text, { mode: 0o600 });
      return livingHolder(dir);
    };
    assert.equal((await written(JSON.stringify(good)))?.pid, process.pid, 'as it is, it names us');
    // Above the largest process id of Linux, macOS and Windows in use.
    for (const change of [{ pid: 2 ** 30 }, { bootId: 'another' }, { host: 'elsewhere' }, { pid: 'x' }])
      assert.equal(await written(JSON.stringify({ ...good, ...change })), undefined, JSON.stringify(change));
    assert.equal(await written('{'), undefined);
  });
});
