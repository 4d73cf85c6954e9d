import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sha256Hex } from '../../../extension/archive/canonical';
import { ROOT_CHAIN, type EntryId } from '../../../extension/archive/ids';
import { capture, own, ownDir, png, said, withImage } from '../storage/archives';
import { useScratch } from '../storage/scratch';
import { folderState } from './folderState';
import { answer, strata } from './strata';

describe('what an archive keeps beside its branches, on the command line', function () {
  this.timeout(60_000);
  const root = useScratch();
  const IMAGE = png(1);
  const NAME = sha256Hex(IMAGE);
  const blob = () => path.join(ownDir(root()), 'blobs', NAME);

  /** An image in a branch, one message that Pi changed after it was captured, and one that was never bound. */
  beforeEach(async () => {
    const { archive, close } = await own(root());
    for (const [i, message] of [withImage('look', IMAGE), said('captured'), said('orphan')].entries())
      await archive.append({ capture: capture(i), message });
    await archive.bind({
      after: ROOT_CHAIN,
      sources: [
        { entry: 'e0' as EntryId, capture: capture(0) },
        { entry: 'e1' as EntryId, capture: capture(1), message: said("Pi's own") },
      ],
    });
    await close();
  });

  it('is counted by status and by verify, which write nothing', async () => {
    const before = folderState(ownDir(root()));
    const status = await strata(['status', ownDir(root())]);
    assert.equal(status.code, 0);
    assert.match(status.out, /2 sources on 1 branch, 1 message on none/);
    assert.match(status.out, /1 captured text superseded by Pi's own entry, and kept/);
    assert.match(status.out, /1 image\n/);
    const verify = await strata(['verify', ownDir(root())]);
    assert.equal(verify.code, 0, verify.out);
    assert.match(verify.out, /4 commits, 2 originals, 1 image, 0 frozen views checked\./);
    assert.match(verify.out, /1 finished message is on no branch.*They are stored\./);
    assert.match(verify.out, /1 message differs from what was first captured.*the first text is kept\./);
    assert.match(verify.out, /No damage\./);
    const { orphans, superseded, images } = await answer<Record<string, unknown>>(['verify', ownDir(root())]);
    assert.deepEqual([orphans, superseded, images], [[capture(2)], 1, 1]);
    assert.deepEqual(folderState(ownDir(root())), before);
  });

  it('is reported when an image is missing, shorter or changed, and everything else is still read', async () => {
    const whole = readFileSync(blob());
    const changed = Buffer.from(whole);
    changed.writeUInt8(changed.readUInt8(50) ^ 1, 50);
    for (const [spoil, said] of [
      [() => rmSync(blob()), /byte 0: the image [0-9a-f]{64} it names is missing/],
      [() => writeFileSync(blob(), whole.subarray(1)), /byte 0: the image [0-9a-f]{64} it names is damaged/],
      [() => writeFileSync(blob(), changed), /byte 0: the image [0-9a-f]{64} it names is damaged/],
    ] as const) {
      writeFileSync(blob(), whole, { mode: 0o600 });
      spoil();
      const verify = await strata(['verify', ownDir(root())]);
      assert.equal(verify.code, 1);
      assert.match(verify.out, said);
      const zoom = await strata(['zoom', ownDir(root()), '0', '1']);
      assert.equal(zoom.code, 0, zoom.err);
      assert.match(zoom.out, /look/);
    }
    // A glance sees what is missing or of another size; only verify reads every byte.
    rmSync(blob());
    const status = await strata(['status', ownDir(root())]);
    assert.equal(status.code, 0);
    assert.match(status.out, /DAMAGED: 1 image missing or of another size/);
    const owned = await own(root());
    await owned.archive.append({ capture: capture(9), message: said('goes on') });
    await owned.close();
  });
});
