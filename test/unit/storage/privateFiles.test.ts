import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import type { SessionIdentity } from '../../../extension/archive/requests';
import type { SessionId } from '../../../extension/archive/ids';
import { openArchiveFolder } from '../../../extension/storage/archiveFolder';
import { atomicWrite } from '../../../extension/storage/atomicFile';
import { privateFolder } from '../../../extension/storage/privateFolder';
import { faultDisk, systemError, type Call } from './faultDisk';
import { all } from './journals';
import { useScratch } from './scratch';

const posix = process.platform !== 'win32';

describe('Private files', () => {
  const folder = useScratch();
  const mode = (file: string) => (statSync(file).mode & 0o777).toString(8);

  for (const umask of posix ? [0o000, 0o077] : [])
    it(`have modes 0700 and 0600 under umask ${umask.toString(8).padStart(3, '0')}`, async () => {
      const before = process.umask(umask);
      try {
        const root = path.join(folder(), 'agent', 'strata');
        const identity: SessionIdentity = { sessionId: 's' as SessionId, cwd: '/work' };
        const opened = await openArchiveFolder(root, identity);
        assert.ok(opened.state === 'opened');
        await opened.journal.append('{"a":1}');
        await opened.close();
        writeFileSync(path.join(opened.dir, 'journal-1.jsonl'), 'torn', { flag: 'a' });
        const again = await openArchiveFolder(root, identity);
        assert.ok(again.state === 'opened');
        assert.deepEqual(await all(again.journal), ['{"a":1}']);
        assert.equal(again.journal.tail.state, 'torn');
        await again.close();
        let files = 0;
        for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
          const inside = path.join(entry.parentPath, entry.name);
          assert.equal(mode(inside), entry.isDirectory() ? '700' : '600', inside);
          if (entry.isFile()) files++;
        }
        assert.equal(files, 4);
        assert.equal(mode(root), '700');
      } finally {
        process.umask(before);
      }
    });

  it('are not kept in a folder that is a link, a file, or writable by others', async () => {
    const real = path.join(folder(), 'real');
    mkdirSync(real, { mode: 0o700 });
    symlinkSync(real, path.join(folder(), 'link'));
    writeFileSync(path.join(folder(), 'file'), '');
    await assert.rejects(privateFolder(path.join(folder(), 'link')), /symbolic link/);
    await assert.rejects(privateFolder(path.join(folder(), 'file')), /not a folder/);
    if (!posix) return;
    for (const bits of [0o720, 0o702]) {
      chmodSync(real, bits);
      await assert.rejects(privateFolder(real), /written by other users.*chmod 700/s);
    }
    chmodSync(real, 0o750);
    await privateFolder(real);
    assert.equal(mode(real), '750');
  });

  it('are not kept in a folder of another user', async () => {
    if (!posix) return;
    // Only the superuser can give a folder away; to everybody else the root folder is another's.
    let others = '/';
    if (process.getuid?.() === 0) {
      others = path.join(folder(), 'others');
      mkdirSync(others, { mode: 0o700 });
      chownSync(others, 12345, 12345);
    }
    await assert.rejects(privateFolder(others), /belongs to another user/);
  });

  // D4 11.
  it('are replaced as a whole: at each failing call the old or the new content is there, and no litter', async () => {
    const file = path.join(folder(), 'config.json');
    const ops: Call[] = ['open', 'write', 'sync', 'rename', 'syncFolder'];
    for (const failing of ops) {
      await atomicWrite(file, 'old');
      const disk = faultDisk(call => {
        if (call === failing) throw systemError('EIO');
        return undefined;
      });
      await assert.rejects(atomicWrite(file, 'new', disk), { code: 'EIO' });
      assert.equal(readFileSync(file, 'utf8'), failing === 'syncFolder' ? 'new' : 'old');
      assert.deepEqual(readdirSync(folder()), ['config.json']);
    }
    const disk = faultDisk(() => undefined);
    await atomicWrite(file, 'new', disk);
    assert.deepEqual(disk.calls, ['open', 'write', 'sync', 'rename', 'syncFolder']);
  });

  it('are written whole when the disk takes a byte at a time, and by many writers at once', async () => {
    const file = path.join(folder(), 'config.json');
    await atomicWrite(
      file,
      'slowly',
      faultDisk(call => (call === 'write' ? 1 : undefined)),
    );
    assert.equal(readFileSync(file, 'utf8'), 'slowly');
    const texts = Array.from({ length: 20 }, (_, n) => `${n}`.repeat(1000));
    await Promise.all(texts.map(t => atomicWrite(file, t)));
    assert.ok(texts.includes(readFileSync(file, 'utf8')));
    assert.deepEqual(readdirSync(folder()), ['config.json']);
  });

  it('replace a link, never what it points to', async () => {
    const file = path.join(folder(), 'config.json');
    writeFileSync(path.join(folder(), 'elsewhere'), 'mine');
    symlinkSync('elsewhere', file);
    await atomicWrite(file, 'new');
    assert.equal(readFileSync(path.join(folder(), 'elsewhere'), 'utf8'), 'mine');
    assert.ok(lstatSync(file).isFile());
  });
});
