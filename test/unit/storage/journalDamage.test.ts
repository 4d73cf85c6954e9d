import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { openJournal } from '../../../extension/storage/journalOpen';
import { JournalError } from '../../../extension/storage/journalError';
import { journalSource } from '../../../extension/storage/journalSource';
import { all, framed, kept, line } from './journals';
import { useScratch } from './scratch';

const LINES = Array.from({ length: 12 }, (_, n) => line(n));
const WHOLE = framed(LINES);
const LAST = framed(LINES.slice(0, -1)).length;

describe('A damaged journal', function () {
  this.timeout(60_000);
  const folder = useScratch();
  const file = () => path.join(folder(), 'journal-1.jsonl');

  /** Writes `bytes`, opens, and checks what must hold for damage from the line `hit` to the line `last`. */
  async function judge(bytes: Buffer, hit: number, last = hit): Promise<void> {
    writeFileSync(file(), bytes);
    const journal = await openJournal(file());
    try {
      assert.deepEqual(await all(journal), LINES.slice(0, hit));
      const start = framed(LINES.slice(0, hit)).length;
      if (last === LINES.length - 1) {
        assert.ok(journal.tail.state === 'torn' && journal.tail.kept !== undefined);
        assert.ok(readFileSync(journal.tail.kept).equals(bytes.subarray(start)));
        assert.ok(readFileSync(file()).equals(WHOLE.subarray(0, start)));
        return;
      }
      assert.ok(journal.tail.state === 'damaged', `line ${hit} was taken for ${journal.tail.state}`);
      assert.equal(journal.tail.offset, start);
      await assert.rejects(
        journal.append(line(99)),
        e =>
          e instanceof JournalError &&
          e.code === 'damaged' &&
          e.message.includes(`${file()} is damaged at byte ${start}`),
      );
      assert.ok(readFileSync(file()).equals(bytes), 'bytes were changed');
    } finally {
      await journal.close();
    }
  }

  function lineAt(offset: number): number {
    return LINES.findIndex((_, i) => framed(LINES.slice(0, i + 1)).length > offset);
  }

  // D4 3.
  it('is noticed for any flipped bit: at the end put aside, elsewhere untouched and never written', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(WHOLE.length - 1), fc.nat(7), async (at, bit) => {
        const bytes = Buffer.from(WHOLE);
        bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at);
        await judge(bytes, lineAt(at));
      }),
      { numRuns: 500 },
    );
  });

  it('is noticed for every flipped bit of every length field and line end', async () => {
    for (let hit = 0; hit < LINES.length; hit++) {
      const start = framed(LINES.slice(0, hit)).length;
      const end = framed(LINES.slice(0, hit + 1)).length - 1;
      for (const at of [0, 1, 2, 3, 4, 5, 6, 7].map(i => start + i).concat(end))
        for (let bit = 0; bit < 8; bit += 3) {
          const bytes = Buffer.from(WHOLE);
          bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at);
          await judge(bytes, hit);
        }
    }
  });

  // D4 4.
  it('is noticed when a stretch of it was zeroed', async () => {
    for (const length of [1, 8, 100])
      for (const at of [0, 200, LAST - 150, LAST - 50, WHOLE.length - length]) {
        const bytes = Buffer.from(WHOLE);
        bytes.fill(0, at, at + length);
        await judge(bytes, lineAt(at), lineAt(at + length - 1));
      }
  });

  it('is told from a torn tail that only quotes a line of a journal', async () => {
    const quoting = JSON.stringify({ text: framed(LINES).toString() });
    writeFileSync(file(), Buffer.concat([WHOLE, framed([quoting]).subarray(0, -3)]));
    const journal = await openJournal(file());
    assert.equal(journal.tail.state, 'torn');
    assert.deepEqual(await all(journal), LINES);
    await journal.close();
    assert.equal(kept(folder()).length, 1);
  });

  it('is cut back to its good lines when up to 64 KiB of garbage follow', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 65536 }), async garbage => {
        writeFileSync(file(), Buffer.concat([WHOLE, garbage]));
        const journal = await openJournal(file());
        assert.deepEqual(journal.tail, {
          state: 'torn',
          bytes: garbage.length,
          kept: journal.tail.state === 'torn' ? journal.tail.kept : '',
        });
        assert.deepEqual(await all(journal), LINES);
        await journal.close();
        assert.ok(readFileSync(file()).equals(WHOLE));
      }),
      { numRuns: 25 },
    );
  });

  it('is reported, with its good lines, to a reader too, and nothing is written', async () => {
    const bytes = Buffer.from(WHOLE);
    bytes.writeUInt8(bytes.readUInt8(20) ^ 1, 20);
    writeFileSync(file(), bytes);
    const { frames, next, tail } = await journalSource(file()).read(0);
    assert.deepEqual([frames.length, next, tail.state], [0, 0, 'damaged']);
    assert.ok(readFileSync(file()).equals(bytes));
    assert.deepEqual(kept(folder()), []);
  });
});
