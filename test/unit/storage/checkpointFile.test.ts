import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Archive } from '../../../extension/archive/archive';
import type { SessionId } from '../../../extension/archive/ids';
import { openArchiveFolder } from '../../../extension/storage/archiveFolder';
import { checkpointFile } from '../../../extension/storage/checkpointFile';
import { MemoryBlobs } from '../../../extension/storage/memoryBlobs';
import { bind, longConversation, SILENT } from '../engine/conversation';
import { digest } from '../engine/stateDigest';
import { useScratch } from './scratch';

describe("A checkpoint's file", function () {
  this.timeout(60_000);
  const folder = useScratch();
  const journal = () => path.join(folder(), 'journal-1.jsonl');
  const file = () => path.join(folder(), 'checkpoint');
  const nothing = new Uint8Array(new ArrayBuffer(0));
  const parts = [Buffer.from('one'), Buffer.alloc(0), Buffer.alloc(5000, 7), nothing];

  it('gives back what was written, replaced as a whole', async () => {
    const store = checkpointFile(journal());
    assert.equal(await store.read(), undefined);
    assert.equal(await store.covers(), undefined);
    await store.write([Buffer.from('older')], 1);
    writeFileSync(`${file()}.new`, 'left behind by a process that was killed');
    await store.write(parts, 77);
    assert.deepEqual(Buffer.from((await store.read()) ?? []), Buffer.concat(parts));
    assert.equal(await store.covers(), 77);
    assert.deepEqual(readdirSync(folder()), ['checkpoint']);
    if (process.platform !== 'win32') assert.equal(statSync(file()).mode & 0o777, 0o600);
  });

  it('is nothing with any byte flipped, cut anywhere, longer, or of another generation', async () => {
    const store = checkpointFile(journal());
    await store.write(parts, 77);
    const whole = readFileSync(file());
    for (let at = 0; at < whole.length; at += at < 64 ? 1 : 41) {
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      writeFileSync(file(), flipped);
      assert.equal(await store.read(), undefined, `byte ${at}`);
      writeFileSync(file(), whole.subarray(0, at));
      assert.equal(await store.read(), undefined, `cut at ${at}`);
    }
    writeFileSync(file(), Buffer.concat([whole, Buffer.alloc(1)]));
    assert.equal(await store.read(), undefined, 'longer');
    writeFileSync(file(), whole);
    assert.ok(await store.read());
    assert.equal(await checkpointFile(path.join(folder(), 'journal-2.jsonl')).read(), undefined);
  });

  it('of an archive may be there, gone, or of another archive: what is remembered is the same', async () => {
    const open = async (sessionId: string) => {
      const opened = await openArchiveFolder(folder(), {
        sessionId: sessionId as SessionId,
        cwd: '/home/me',
      });
      assert.ok(opened.state === 'opened');
      const archive = await Archive.open({
        journal: opened.journal,
        blobs: new MemoryBlobs(),
        clock: { now: () => 1_700_000_000_000 },
        log: SILENT,
      });
      const close = async () => {
        await archive.close();
        await opened.close();
      };
      return { archive, close, checkpoint: path.join(opened.dir, 'checkpoint') };
    };
    const kept: Buffer[] = [];
    for (const name of ['a', 'b']) {
      const first = await open(name);
      await bind(first.archive, longConversation(5, `${name} `));
      await first.close();
      kept.push(readFileSync(first.checkpoint));
    }
    const probe = await open('a');
    const expected = await digest(probe.archive.state);
    await probe.close();
    for (const bytes of [kept[1] ?? assert.fail(), Buffer.alloc(0), kept[0] ?? assert.fail()]) {
      writeFileSync(probe.checkpoint, bytes);
      const again = await open('a');
      assert.deepEqual(await digest(again.archive.state), expected);
      await again.close();
    }
  });
});
