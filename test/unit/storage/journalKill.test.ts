import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createJournal } from '../../../extension/storage/journal';
import { openJournal } from '../../../extension/storage/journalOpen';
import { all } from './journals';
import { useScratch } from './scratch';

describe('A killed writer', function () {
  this.timeout(120_000);
  const folder = useScratch();

  it('leaves every line that it acknowledged, each time', async () => {
    const file = path.join(folder(), 'journal-1.jsonl');
    for (let round = 0; round < 12; round++) {
      const name = `${file}.${round}`;
      await createJournal(name);
      const child = spawn(process.execPath, [path.join(__dirname, 'writer.child.cjs'), 'write', name], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      while (output.split('\n').length <= 10 * (round + 1)) {
        assert.equal(child.exitCode, null, 'the writer ended by itself');
        await new Promise(resolve => setTimeout(resolve, 1));
      }
      assert.ok(child.pid !== undefined && process.kill(child.pid, 0));
      child.kill('SIGKILL');
      const [, signal] = (await once(child, 'close')) as [number | null, string | null];
      assert.equal(signal, 'SIGKILL');
      const acknowledged = output.split('\n').filter(Boolean).map(Number);
      const journal = await openJournal(name);
      const found = (await all(journal)).map(json => (JSON.parse(json) as { i: number }).i);
      await journal.close();
      assert.notEqual(journal.tail.state, 'damaged');
      assert.deepEqual(
        found,
        found.map((_, i) => i),
      );
      assert.ok(acknowledged.length >= 10);
      for (const i of acknowledged) assert.ok(i < found.length, `acknowledged line ${i} is gone`);
    }
  });
});
