import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { journalSource } from '../../../extension/storage/journalSource';
import { framed, line, newJournal } from './journals';
import { useScratch } from './scratch';

describe('A reader of a journal', function () {
  this.timeout(30_000);
  const folder = useScratch();
  const file = () => path.join(folder(), 'journal-1.jsonl');

  it('follows a journal while its owner appends, and sees each line once', async () => {
    const journal = await newJournal(file());
    const source = journalSource(file());
    const wanted = Array.from({ length: 400 }, (_, n) => line(n));
    const writing = (async () => {
      for (const json of wanted) await journal.append(json);
    })();
    const seen: string[] = [];
    let next = 0;
    let growing = 0;
    while (seen.length < wanted.length) {
      const read = await source.read(next);
      assert.notEqual(read.tail.state, 'damaged');
      if (read.frames.length > 0 && read.frames.length < wanted.length) growing++;
      for (const frame of read.frames) {
        seen.push(frame.json);
        assert.equal(await source.frame(frame), frame.json);
      }
      next = read.next;
    }
    await writing;
    await journal.close();
    assert.deepEqual(seen, wanted);
    assert.ok(growing > 3, 'the reader only came when all was written');
  });

  it('reports a line that is not finished yet, and goes on when it is', async () => {
    const whole = framed([line(1), line(2)]);
    const first = framed([line(1)]).length;
    writeFileSync(file(), whole.subarray(0, first + 20), { mode: 0o600 });
    const source = journalSource(file());
    const before = await source.read(0);
    assert.deepEqual(
      [before.frames.map(f => f.json), before.next, before.tail],
      [[line(1)], first, { state: 'torn', bytes: 20 }],
    );
    appendFileSync(file(), whole.subarray(first + 20));
    const after = await source.read(before.next);
    assert.deepEqual(
      [after.frames.map(f => f.json), after.next, after.tail],
      [[line(2)], whole.length, { state: 'clean' }],
    );
  });

  it('changes nothing: no file, no byte, no time', async () => {
    writeFileSync(file(), Buffer.concat([framed([line(1)]), Buffer.from('half a li')]), { mode: 0o600 });
    const before = statSync(file());
    await journalSource(file()).read(0);
    const after = statSync(file());
    assert.deepEqual(
      [after.size, after.mtimeMs, after.ctimeMs],
      [before.size, before.mtimeMs, before.ctimeMs],
    );
    assert.deepEqual(readdirSync(folder()), ['journal-1.jsonl']);
  });

  it('says so when the journal became shorter than what was read, or a line is gone', async () => {
    writeFileSync(file(), framed([line(1), line(2)]), { mode: 0o600 });
    const source = journalSource(file());
    const { next, frames } = await source.read(0);
    truncateSync(file(), 10);
    const read = await source.read(next);
    assert.equal(read.tail.state, 'damaged');
    assert.deepEqual(read.frames, []);
    await assert.rejects(source.frame(frames[0] ?? assert.fail()), /no good line/);
  });

  it('follows no symbolic link', async () => {
    writeFileSync(path.join(folder(), 'elsewhere'), framed([line(1)]), { mode: 0o600 });
    symlinkSync('elsewhere', file());
    await assert.rejects(journalSource(file()).read(0), /symbolic link/);
  });
});
