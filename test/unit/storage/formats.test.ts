import assert from 'node:assert/strict';
import { chmodSync, cpSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Branch } from '../../../extension/archive/branch';
import { sha256Hex } from '../../../extension/archive/canonical';
import { rebuildView } from '../../../extension/archive/frozenText';
import { imageBytes } from '../../../extension/archive/images';
import { blobFaults, surveyJournal } from '../../../extension/archive/journalSurvey';
import { verifyState } from '../../../extension/archive/verify';
import { capture, own, ownDir, said, type Owned } from './archives';
import { useScratch } from './scratch';

/** Every format that was ever released: an archive that its last writer left, and the hash of what it says. */
const FORMATS = path.resolve('test/fixtures/formats');

/** Everything an archive says, in words of its own, so that no later representation changes it. */
async function contentOf({ archive, folder }: Owned): Promise<unknown> {
  const { state } = archive;
  const branches = [];
  for (const { chain } of state.tips()) {
    const branch = state.branch(chain) as Branch;
    const records: string[] = [];
    const images: string[] = [];
    for (let i = 0; i < branch.records; i++) {
      records.push(await branch.raw(i));
      const message = await branch.message(i);
      for (const block of 'content' in message ? message.content : []) {
        if (block.type !== 'image') continue;
        const read = await imageBytes(block, folder.blobs);
        images.push(read.state === 'whole' ? sha256Hex(read.bytes) : read.state);
      }
    }
    branches.push({ chain, records, images });
  }
  const turns = [];
  for (const { id, receipt, sent } of state.turns) {
    const view = await rebuildView(state, receipt);
    turns.push({ id, sent, verified: view.verified, text: view.text });
  }
  const { orphans, modelLines, mode, newest, commits } = state;
  return { branches, turns, orphans, modelLines, mode, newest, commits };
}

describe('An archive of a released format', function () {
  this.timeout(60_000);
  const root = useScratch();

  function files(folder: string): [string, string][] {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter(name => statSync(path.join(folder, name)).isFile())
      .sort()
      .map(name => [name, readFileSync(path.join(folder, name)).toString('base64')]);
  }

  // D4 30.
  for (const format of readdirSync(FORMATS))
    it(`${format} opens, says what it said, stays as it is, and takes more`, async () => {
      const fixture = path.join(FORMATS, format);
      const before = files(path.join(fixture, 'archive'));
      assert.ok(before.length >= 3, 'configuration, journal and a blob');
      cpSync(path.join(fixture, 'archive'), ownDir(root()), { recursive: true });
      for (const name of ['', 'blobs']) chmodSync(path.join(ownDir(root()), name), 0o700);
      const owned = await own(root());
      assert.equal(owned.archive.readOnly, undefined);
      const said1 = JSON.stringify(await contentOf(owned));
      assert.equal(sha256Hex(said1), readFileSync(path.join(fixture, 'content.sha256'), 'utf8').trim());
      assert.deepEqual((await verifyState(owned.archive.state)).faults, []);
      const { images, superseded } = await surveyJournal(owned.folder.source);
      assert.deepEqual(await blobFaults(images, owned.folder.blobs), []);
      assert.deepEqual([images.length, superseded, owned.archive.state.orphans], [1, 1, 1]);
      await owned.close();
      const after = new Map(files(ownDir(root())));
      for (const [name, bytes] of before) assert.ok(after.get(name) === bytes, `${name} was changed`);
      const again = await own(root());
      await again.archive.append({ capture: capture(99), message: said('more') });
      assert.equal(again.archive.state.orphans, 2);
      await again.close();
    });
});
