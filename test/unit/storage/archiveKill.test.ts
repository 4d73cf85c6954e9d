import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { blobFaults, surveyJournal } from '../../../extension/archive/journalSurvey';
import { verifyState } from '../../../extension/archive/verify';
import { digest } from '../engine/stateDigest';
import { capturedTexts, commitNumbers, own, ownJournal, type Owned } from './archives';
import { OP_KINDS, type OpKind } from './opKinds';
import { POINTS } from './pausingDisk';
import { useScratch } from './scratch';

describe('A writer that is killed', function () {
  this.timeout(240_000);
  const root = useScratch();
  const children: ChildProcess[] = [];
  afterEach(() => children.splice(0).forEach(child => child.kill('SIGKILL')));

  function start(...args: string[]): { child: ChildProcess; output: () => string } {
    const program = path.join(__dirname, 'archiveWriter.child.cjs');
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    return { child, output: () => output };
  }

  async function kill(child: ChildProcess): Promise<void> {
    assert.equal(child.exitCode, null, 'the writer ended by itself');
    assert.ok(child.pid !== undefined && process.kill(child.pid, 0), 'the writer was not running');
    child.kill('SIGKILL');
    const [, signal] = (await once(child, 'close')) as [number | null, string | null];
    assert.equal(signal, 'SIGKILL');
  }

  async function until(child: ChildProcess, done: () => boolean): Promise<void> {
    while (!done()) {
      assert.equal(child.exitCode, null, 'the writer ended by itself');
      await new Promise(resolve => setTimeout(resolve, 1));
    }
  }

  /** No commit numbers twice or missing, every original and view as its hash says, every image there. */
  async function sound({ archive, folder }: Owned, at: string): Promise<void> {
    assert.equal(archive.readOnly, undefined);
    const numbers = commitNumbers(at);
    assert.deepEqual(
      numbers,
      numbers.map((_, i) => i),
    );
    assert.deepEqual((await verifyState(archive.state)).faults, []);
    const { images } = await surveyJournal(folder.source);
    assert.deepEqual(await blobFaults(images, folder.blobs), []);
  }

  /** What a writer that was never killed has in the end; times do not count. */
  async function undisturbed({ before, step }: OpKind): Promise<unknown> {
    const elsewhere = path.join(root(), 'elsewhere');
    const { archive, close } = await own(elsewhere, undefined, { now: () => 0 });
    await before(archive);
    await step(archive);
    const all = timeless(await digest(archive.state));
    await close();
    rmSync(elsewhere, { recursive: true });
    return all;
  }

  for (const op of OP_KINDS)
    for (const point of POINTS)
      it(`${point}, of a ${op.name}: keeps all before, and the ${op.name} ${expected(point)}`, async () => {
        const { child, output } = start('stop', root(), op.name, point);
        await until(child, () => output().includes('reached\n'));
        await kill(child);
        assert.ok(!output().includes('acknowledged'));
        const owned = await own(root());
        const { archive, close } = owned;
        await sound(owned, ownJournal(root()));
        if (point === 'before its write') assert.equal(op.isStored(archive.state), false);
        if (point.startsWith('after')) assert.equal(op.isStored(archive.state), true);
        // Asked again, as Pi asks again: the same archive as without a kill.
        await op.step(archive);
        assert.equal(op.isStored(archive.state), true);
        assert.deepEqual(timeless(await digest(archive.state)), await undisturbed(op));
        await sound(owned, ownJournal(root()));
        await close();
      });

  // D4 9.
  it('50 times at random keeps every acknowledged message, and never more than was sent', async () => {
    const acknowledged = new Set<number>();
    let from = 0;
    let kills = 0;
    for (let round = 0; round < 50; round++) {
      const { child, output } = start('run', root(), String(from));
      const said = (letter: string): number[] =>
        output()
          .split('\n')
          .filter(line => line.startsWith(`${letter} `))
          .map(line => Number(line.slice(2)));
      const wanted = 1 + ((round * 37) % 120);
      await until(child, () => output().split('\na ').length > wanted);
      await kill(child);
      kills++;
      for (const n of said('a')) acknowledged.add(n);
      const sent = Math.max(...said('s'), from - 1) + 1;
      const found = capturedTexts(ownJournal(root()))
        .map(text => Number(text.split(' ')[0]))
        .sort((a, b) => a - b);
      assert.equal(new Set(found).size, found.length, 'a message was stored twice');
      for (const n of acknowledged) assert.ok(found.includes(n), `acknowledged message ${n} is gone`);
      assert.ok(acknowledged.size <= found.length && found.every(n => n < sent));
      from = sent;
    }
    assert.equal(kills, 50);
    assert.ok(acknowledged.size >= 1000, `only ${acknowledged.size} were acknowledged`);
    const owned = await own(root());
    await sound(owned, ownJournal(root()));
    await owned.close();
  });
});

function expected(point: (typeof POINTS)[number]): string {
  switch (point) {
    case 'before its write':
      return 'is not there';
    case 'between its write and its fdatasync':
      return 'is there whole or not at all';
    case 'after its fdatasync, before it is acknowledged':
      return 'is there';
  }
}

/** Without the times at which things happened here. */
function timeless(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (name, field: unknown) => (name === 'at' ? 0 : field)));
}
