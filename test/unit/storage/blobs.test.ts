import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { sha256Hex } from '../../../extension/archive/canonical';
import { blobSource, FolderBlobs, glanceAtBlob } from '../../../extension/storage/blobs';
import { png } from './archives';
import { crashDisk, faultDisk, systemError } from './faultDisk';
import { useScratch } from './scratch';

describe('A blob', () => {
  const dir = useScratch();
  const file = (sha256: string) => path.join(dir(), 'blobs', sha256);
  const IMAGE = png(1, 5000);
  const NAME = sha256Hex(IMAGE);

  it('is one private file named by its bytes, and reads back', async () => {
    const blobs = new FolderBlobs(dir());
    assert.equal(await blobs.put(IMAGE), NAME);
    assert.ok(readFileSync(file(NAME)).equals(IMAGE));
    assert.equal(statSync(file(NAME)).mode & 0o777, 0o600);
    assert.equal(statSync(path.dirname(file(NAME))).mode & 0o777, 0o700);
    for (const reader of [blobs, blobSource(dir())]) {
      const read = await reader.read(NAME);
      assert.ok(read.state === 'whole' && IMAGE.equals(read.bytes));
    }
    assert.equal(await glanceAtBlob(dir(), NAME, IMAGE.length), undefined);
  });

  it('is written, synced, renamed and its folder synced, before it is acknowledged', async () => {
    const disk = faultDisk(() => undefined);
    await new FolderBlobs(dir(), disk).put(IMAGE);
    // The first sync makes the folder's own name durable. A blob that is not there is looked for first.
    const [first, ...rest] = disk.calls;
    assert.equal(first, 'syncFolder');
    assert.deepEqual(
      rest.filter(call => call !== 'open'),
      ['write', 'sync', 'rename', 'syncFolder'],
    );
  });

  it('is stored once, however often and by however many at once', async () => {
    const disk = faultDisk(() => undefined);
    const blobs = new FolderBlobs(dir(), disk);
    await Promise.all([1, 2, 3].map(() => blobs.put(IMAGE)));
    await new FolderBlobs(dir(), disk).put(IMAGE);
    assert.equal(disk.calls.filter(call => call === 'write').length, 1);
    assert.deepEqual(readdirSync(path.join(dir(), 'blobs')), [NAME]);
  });

  it('is reported when it is missing or damaged, and put right by the same bytes', async () => {
    const blobs = new FolderBlobs(dir());
    assert.deepEqual(await blobs.read(NAME), { state: 'missing' });
    await blobs.put(IMAGE);
    const bytes = Buffer.from(IMAGE);
    bytes.writeUInt8(bytes.readUInt8(9) ^ 1, 9);
    for (const bad of [bytes, Buffer.alloc(0), IMAGE.subarray(1)]) {
      writeFileSync(file(NAME), bad);
      assert.equal((await blobs.read(NAME)).state, 'damaged');
      await new FolderBlobs(dir()).put(IMAGE);
      assert.equal((await blobs.read(NAME)).state, 'whole');
    }
    writeFileSync(file(NAME), 'short');
    assert.equal(await glanceAtBlob(dir(), NAME, IMAGE.length), 'damaged');
    rmSync(file(NAME));
    assert.equal(await glanceAtBlob(dir(), NAME, IMAGE.length), 'missing');
  });

  it('is whole or not there, whichever call its writer died at', async () => {
    let calls = 0;
    await new FolderBlobs(
      dir(),
      crashDisk(Infinity, () => calls++),
    ).put(IMAGE);
    rmSync(path.join(dir(), 'blobs'), { recursive: true });
    assert.ok(calls >= 6, `${calls} calls`);
    for (let at = 0; at < calls; at++) {
      await assert.rejects(new FolderBlobs(dir(), crashDisk(at)).put(IMAGE), /crashed/);
      assert.ok(['missing', 'whole'].includes((await blobSource(dir()).read(NAME)).state));
      await new FolderBlobs(dir()).put(IMAGE);
      assert.equal((await blobSource(dir()).read(NAME)).state, 'whole');
      rmSync(path.join(dir(), 'blobs'), { recursive: true });
    }
  });

  it('is taken again after a disk that was full', async () => {
    let full = true;
    const disk = faultDisk(call => {
      if (full && call === 'write') throw systemError('ENOSPC');
      return undefined;
    });
    const blobs = new FolderBlobs(dir(), disk);
    await assert.rejects(blobs.put(IMAGE), { code: 'ENOSPC' });
    assert.deepEqual(readdirSync(path.join(dir(), 'blobs')), []);
    full = false;
    await blobs.put(IMAGE);
    assert.equal((await blobs.read(NAME)).state, 'whole');
  });

  it('is never read from outside its folder, through a link, or by a name that is a path', async () => {
    const secret = path.join(dir(), 'secret');
    writeFileSync(secret, IMAGE);
    const blobs = new FolderBlobs(dir());
    await blobs.put(png(2));
    symlinkSync(secret, file(NAME));
    assert.equal((await blobs.read(NAME)).state, 'damaged');
    for (const name of ['../secret', '', 'A'.repeat(64), `${NAME}/../../secret`])
      assert.equal((await blobs.read(name)).state, 'damaged');
    rmSync(path.join(dir(), 'blobs'), { recursive: true });
    mkdirSync(path.join(dir(), 'blobs'));
    chmodSync(path.join(dir(), 'blobs'), 0o777);
    await assert.rejects(new FolderBlobs(dir()).put(IMAGE), /can be written by other users/);
    assert.ok(!existsSync(file(NAME)));
  });
});
