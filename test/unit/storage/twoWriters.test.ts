import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { capturedTexts, commitNumbers, own, ownJournal } from './archives';
import { useScratch } from './scratch';

describe('Two processes on one archive', function () {
  this.timeout(120_000);
  const root = useScratch();

  // D4 20.
  it('write 100 messages each: one at a time, none lost, none mixed, the other knows who holds it', async () => {
    await (await own(root())).close();
    const names = ['left', 'right'];
    const outcomes = await Promise.all(
      names.map(async name => {
        const child = spawn(
          process.execPath,
          [path.join(__dirname, 'twoWriters.child.cjs'), 'append', root(), name, '100'],
          { stdio: ['ignore', 'pipe', 'inherit'] },
        );
        let output = '';
        child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
        const [code] = (await once(child, 'close')) as [number | null];
        assert.equal(code, 0);
        const { lockedOut, holders } = JSON.parse(output) as { lockedOut: number; holders: number[] };
        return { pid: child.pid, lockedOut, holders };
      }),
    );
    const [left, right] = outcomes;
    assert.ok(left && right);
    assert.ok(left.lockedOut + right.lockedOut > 0, 'they never met');
    assert.ok(left.holders.every(pid => pid === right.pid) && right.holders.every(pid => pid === left.pid));
    const texts = capturedTexts(ownJournal(root()));
    assert.equal(texts.length, 200);
    for (const name of names)
      assert.deepEqual(
        texts.filter(text => text.startsWith(name)),
        Array.from({ length: 100 }, (_, i) => `${name} ${i}`),
      );
    const numbers = commitNumbers(ownJournal(root()));
    assert.deepEqual(
      numbers,
      numbers.map((_, i) => i),
    );
    const { archive, close } = await own(root());
    assert.equal(archive.readOnly, undefined);
    assert.equal(archive.state.orphans, 200);
    await close();
  });
});
