import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, renameSync, statSync } from 'node:fs';
import path from 'node:path';
import { ArchiveFollower } from '../../../extension/archive/follower';
import type { FoundJournal } from '../../../extension/archive/ports';
import { readArchiveFolder } from '../../../extension/storage/archiveFolder';
import { readConfig } from '../../../extension/storage/archiveConfig';
import { replaceJournal } from '../../../extension/storage/generation';
import { digest } from '../engine/stateDigest';
import { capture, own, ownDir, said } from './archives';
import { useScratch } from './scratch';

/** The journal of the archive below `root`, found as every reader finds it. */
function findBelow(root: string): () => Promise<FoundJournal> {
  return async () => {
    const folder = await readArchiveFolder(ownDir(root));
    if (folder.state === 'refused') throw new Error(folder.reason);
    return { generation: folder.config.generation, source: folder.source };
  };
}

describe('A follower of an archive folder', function () {
  this.timeout(60_000);
  const root = useScratch();
  let child: ChildProcess | undefined;
  afterEach(async () => {
    if (child?.exitCode === null && child.signalCode === null && child.kill('SIGKILL'))
      await once(child, 'exit');
    child = undefined;
  });

  it('follows an owner in another process without a lock and without a write', async () => {
    child = spawn(process.execPath, [path.join(__dirname, 'archiveWriter.child.cjs'), 'run', root(), '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let acknowledged = 0;
    child.stdout?.on('data', (data: Buffer) => {
      acknowledged += data.toString().match(/^a \d+$/gm)?.length ?? 0;
    });
    while (acknowledged < 8) await new Promise(resolve => setTimeout(resolve, 20));
    const follower = new ArchiveFollower(findBelow(root()));
    let last = 0;
    for (let looks = 0; looks < 10 || last < 200; looks++) {
      const least = acknowledged;
      await follower.refresh();
      assert.equal(follower.failure, undefined);
      assert.notEqual(follower.tail.state, 'damaged');
      assert.ok(follower.state.commits >= least, 'what was acknowledged before is seen');
      assert.ok(follower.state.commits >= last);
      last = follower.state.commits;
      await new Promise(resolve => setTimeout(resolve, 10));
    }
    assert.equal(follower.started, 1, 'it went on where it stopped');
    assert.equal(child.exitCode, null, 'the owner was running all the time');
    child.kill('SIGKILL');
    await once(child, 'exit');
    await follower.refresh();
    const before = readdirSync(ownDir(root())).map(name => [
      name,
      statSync(path.join(ownDir(root()), name)).mtimeMs,
    ]);
    const again = new ArchiveFollower(findBelow(root()));
    await again.refresh();
    assert.deepEqual(await digest(again.state), await digest(follower.state));
    const after = readdirSync(ownDir(root())).map(name => [
      name,
      statSync(path.join(ownDir(root()), name)).mtimeMs,
    ]);
    assert.deepEqual(after, before);
  });

  it('goes over to a new generation as a whole, and says when the folder is gone', async () => {
    const { archive, close } = await own(root());
    for (let i = 0; i < 5; i++) await archive.append({ capture: capture(i), message: said(`old ${i}`) });
    await close();
    const follower = new ArchiveFollower(findBelow(root()));
    await follower.refresh();
    assert.equal(follower.state.orphans, 5);
    const config = path.join(ownDir(root()), 'config.json');
    const found = await readConfig(config);
    assert.ok(found.state === 'read', found.state);
    const text = readFileSync(path.join(ownDir(root()), 'journal-1.jsonl'), 'utf8');
    const lines = text
      .split('\n')
      .slice(0, 3)
      .map(line => line.slice(17));
    await replaceJournal(ownDir(root()), found, lines);
    assert.equal(await follower.refresh(), true);
    assert.equal(follower.failure, undefined);
    assert.equal(follower.state.orphans, 3);
    assert.equal(follower.started, 2);
    renameSync(ownDir(root()), path.join(root(), 'elsewhere'));
    assert.equal(await follower.refresh(), true);
    assert.match(follower.failure ?? '', /is not an archive/);
    assert.equal(follower.state.orphans, 3, 'what was read can still be shown');
    renameSync(path.join(root(), 'elsewhere'), ownDir(root()));
    await follower.refresh();
    assert.equal(follower.failure, undefined);
  });
});
