import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { createJournal } from '../../../extension/storage/journal';
import { openJournal } from '../../../extension/storage/journalOpen';
import { JournalError } from '../../../extension/storage/journalError';
import { all, framed, kept, line, newJournal } from './journals';
import { useScratch } from './scratch';

describe('A journal', function () {
  this.timeout(60_000);
  const folder = useScratch();
  const file = () => path.join(folder(), 'journal-1.jsonl');

  it('writes each line as length, CRC-32 and JSON', async () => {
    const journal = await newJournal(file());
    const json = '{"text":"né"}';
    const ref = await journal.append(json);
    await journal.close();
    const bytes = Buffer.from(json);
    const head = [bytes.length, crc32(bytes)].map(n => n.toString(16).padStart(8, '0')).join('');
    assert.equal(readFileSync(file(), 'utf8'), `${head} ${json}\n`);
    assert.deepEqual(ref, { offset: 0, length: 17 + bytes.length + 1, crc: crc32(bytes) });
  });

  it('gives back every line in order after it was opened again, and any one by its place', async () => {
    const lines = Array.from({ length: 50 }, (_, n) => line(n));
    let journal = await newJournal(file());
    const refs = [];
    for (const json of lines) refs.push(await journal.append(json));
    for (const [i, ref] of refs.entries()) assert.equal(await journal.read(ref), lines[i]);
    await journal.close();
    journal = await openJournal(file());
    assert.deepEqual(journal.tail, { state: 'clean' });
    assert.deepEqual(await all(journal), lines);
    for (const [i, ref] of refs.entries()) assert.equal(await journal.read(ref), lines[i]);
    await journal.close();
  });

  it('holds lines longer than what it reads at once', async () => {
    const lines = [line(1), JSON.stringify({ big: 'x'.repeat(9 * 1024 * 1024) }), line(2)];
    const journal = await newJournal(file());
    await Promise.all(lines.map(json => journal.append(json)));
    await journal.close();
    const again = await openJournal(file());
    assert.deepEqual(await all(again), lines);
    await again.close();
  });

  it('keeps all concurrent appends, in the order they were made', async () => {
    const lines = Array.from({ length: 2000 }, (_, n) => line(n));
    const journal = await newJournal(file());
    const refs = await Promise.all(lines.map(json => journal.append(json)));
    await journal.close();
    assert.deepEqual(
      [...refs].sort((a, b) => a.offset - b.offset),
      refs,
    );
    const again = await openJournal(file());
    assert.deepEqual(await all(again), lines);
    await again.close();
  });

  it('stores what was asked for before it was closed, and nothing after', async () => {
    const journal = await newJournal(file());
    const asked = [1, 2, 3].map(n => journal.append(line(n)));
    await journal.close();
    assert.equal((await Promise.all(asked)).length, 3);
    await assert.rejects(journal.append(line(4)), e => e instanceof JournalError && e.code === 'closed');
    assert.equal(readFileSync(file()).equals(framed([1, 2, 3].map(line))), true);
  });

  it('refuses text that would not be one line', async () => {
    const journal = await newJournal(file());
    for (const bad of ['{"a":\n1}', '[1]', ''])
      await assert.rejects(journal.append(bad), e => e instanceof JournalError && e.code === 'invalid');
    await journal.append(line(1));
    await journal.close();
    assert.equal(readFileSync(file()).equals(framed([line(1)])), true);
  });

  // D4 1.
  it('cut at every byte of its last three lines, keeps the longest whole run and the cut bytes', async () => {
    const lines = Array.from({ length: 6 }, (_, n) => line(n));
    const whole = framed(lines);
    const ends = lines.map((_, i) => framed(lines.slice(0, i + 1)).length);
    const from = ends[2] ?? 0;
    assert.ok(whole.length - from > 100);
    for (let cut = from; cut <= whole.length; cut++) {
      const name = path.join(folder(), `${cut}`, 'journal-1.jsonl');
      fileOf(name, whole.subarray(0, cut));
      const good = ends.filter(end => end <= cut);
      const end = good.at(-1) ?? 0;
      const journal = await openJournal(name);
      assert.deepEqual(await all(journal), lines.slice(0, good.length));
      const { tail } = journal;
      if (end === cut) assert.deepEqual(tail, { state: 'clean' });
      else {
        assert.ok(tail.state === 'torn' && tail.kept !== undefined);
        assert.equal(tail.bytes, cut - end);
        assert.ok(readFileSync(tail.kept).equals(whole.subarray(end, cut)));
      }
      await journal.append(line(9));
      await journal.close();
      assert.ok(readFileSync(name).equals(Buffer.concat([whole.subarray(0, end), framed([line(9)])])));
    }
  });

  // D4 6.
  it('counts a whole line without its line end as torn', async () => {
    const whole = framed([line(1), line(2)]);
    fileOf(file(), whole.subarray(0, -1));
    const journal = await openJournal(file());
    assert.deepEqual(await all(journal), [line(1)]);
    await journal.close();
    assert.deepEqual(kept(folder()), [framed([line(2)]).subarray(0, -1)]);
  });

  // D4 8.
  it('loses nothing when lines are appended after a torn tail and it is opened again', async () => {
    const before = [line(1), line(2)];
    fileOf(file(), framed([...before, line(3)]).subarray(0, -5));
    const journal = await openJournal(file());
    const after = Array.from({ length: 10 }, (_, n) => line(n + 10));
    for (const json of after) await journal.append(json);
    await journal.close();
    const again = await openJournal(file());
    assert.deepEqual(again.tail, { state: 'clean' });
    assert.deepEqual(await all(again), [...before, ...after]);
    await again.close();
    assert.equal(kept(folder()).length, 1);
  });

  it('puts two torn tails aside under two names', async () => {
    fileOf(file(), framed([line(1)]));
    for (const garbage of ['{"half', 'other']) await openAfter(() => appendFileSync(file(), garbage));
    assert.deepEqual(
      kept(folder())
        .map(b => b.toString())
        .sort(),
      ['other', '{"half'],
    );
  });

  it('is never opened through a symbolic link', async () => {
    const elsewhere = path.join(folder(), 'elsewhere');
    writeFileSync(elsewhere, framed([line(1)]));
    symlinkSync(elsewhere, file());
    await assert.rejects(openJournal(file()), /symbolic link/);
    await assert.rejects(createJournal(file()), { code: 'EEXIST' });
    assert.ok(readFileSync(elsewhere).equals(framed([line(1)])));
  });

  async function openAfter(change: () => void): Promise<void> {
    change();
    await (await openJournal(file())).close();
  }
});

function fileOf(name: string, bytes: Buffer): void {
  mkdirSync(path.dirname(name), { recursive: true });
  writeFileSync(name, bytes, { mode: 0o600 });
}
