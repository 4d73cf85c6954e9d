import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createJournal } from '../../../extension/storage/journal';
import { openJournal } from '../../../extension/storage/journalOpen';
import { JournalError, type JournalErrorCode } from '../../../extension/storage/journalError';
import { faultDisk, systemError, type Call } from './faultDisk';
import { all, framed, kept, line } from './journals';
import { useScratch } from './scratch';

describe('A journal on a failing disk', function () {
  this.timeout(30_000);
  const folder = useScratch();
  const file = () => path.join(folder(), 'journal-1.jsonl');
  const is = (code: JournalErrorCode) => (e: unknown) =>
    e instanceof JournalError && e.code === code && e.happened !== '' && e.safe !== '' && e.advice !== '';

  /** A journal with one line, whose disk then fails as `fault` says. */
  async function failing(fault: (call: Call, bytes: number) => number | undefined) {
    await createJournal(file());
    let on = false;
    const disk = faultDisk((call, bytes) => (on ? fault(call, bytes) : undefined));
    const journal = await openJournal(file(), disk);
    await journal.append(line(0));
    on = true;
    return { journal, disk, heal: () => (on = false) };
  }

  async function linesOnDisk(): Promise<string[]> {
    const journal = await openJournal(file());
    const lines = await all(journal);
    assert.deepEqual(journal.tail, { state: 'clean' });
    await journal.close();
    return lines;
  }

  // D4 15.
  for (const code of ['ENOSPC', 'EIO', 'EDQUOT', 'EFBIG'])
    it(`keeps nothing of a line that ${code} stopped, and goes on when there is space again`, async () => {
      const { journal, heal } = await failing(call => {
        if (call === 'write') throw systemError(code);
        return undefined;
      });
      await assert.rejects(journal.append(line(1)), is('write'));
      assert.ok(readFileSync(file()).equals(framed([line(0)])));
      heal();
      await journal.append(line(2));
      await journal.close();
      assert.deepEqual(await linesOnDisk(), [line(0), line(2)]);
    });

  // D4 16.
  for (const [name, part] of [
    ['one byte', () => 1],
    ['half', (n: number) => n >> 1],
    ['all but one byte', (n: number) => n - 1],
  ] as const)
    it(`cuts a write back of which only ${name} was taken`, async () => {
      const { journal, heal } = await failing((call, bytes) => (call === 'write' ? part(bytes) : undefined));
      await assert.rejects(journal.append(line(1)), is('write'));
      assert.ok(readFileSync(file()).equals(framed([line(0)])));
      heal();
      await journal.append(line(2));
      await journal.close();
      assert.deepEqual(await linesOnDisk(), [line(0), line(2)]);
    });

  it('acknowledges none of a batch that could not be written whole', async () => {
    const { journal, heal } = await failing((call, bytes) => (call === 'write' ? bytes - 3 : undefined));
    const asked = await Promise.allSettled([1, 2, 3, 4].map(n => journal.append(line(n))));
    assert.deepEqual(
      asked.map(a => a.status),
      ['rejected', 'rejected', 'rejected', 'rejected'],
    );
    heal();
    await journal.close();
    assert.deepEqual(await linesOnDisk(), [line(0)]);
  });

  it('stops for good when the unfinished line cannot be removed', async () => {
    const { journal, heal } = await failing((call, bytes) => {
      if (call === 'truncate') throw systemError('EIO');
      return call === 'write' ? bytes - 3 : undefined;
    });
    await assert.rejects(journal.append(line(1)), is('read-only'));
    heal();
    await assert.rejects(journal.append(line(2)), is('read-only'));
    await journal.close();
    const again = await openJournal(file());
    assert.deepEqual(await all(again), [line(0)]);
    assert.equal(again.tail.state, 'torn');
    await again.close();
    assert.deepEqual(kept(folder()), [framed([line(1)]).subarray(0, -3)]);
  });

  // D4 18.
  it('never tries a failed fsync again: it takes no line until it is opened again', async () => {
    let syncs = 0;
    const { journal, disk, heal } = await failing(call => {
      if (call === 'datasync' && ++syncs === 1) throw systemError('EIO');
      return undefined;
    });
    const first = journal.append(line(1));
    const meanwhile = journal.append(line(2));
    await assert.rejects(first, is('read-only'));
    await assert.rejects(meanwhile, is('read-only'));
    heal();
    await assert.rejects(journal.append(line(3)), is('read-only'));
    assert.equal(syncs, 1);
    assert.equal(disk.calls.filter(c => c === 'write').length, 2);
    assert.equal(await journal.read({ offset: 0, length: framed([line(0)]).length }), line(0));
    await journal.close();
    assert.deepEqual(await linesOnDisk(), [line(0)]);
  });

  for (const call of ['open', 'write', 'sync', 'truncate', 'syncFolder'] as const)
    it(`opens without losing a byte when ${call} fails while a torn tail is put aside`, async () => {
      const torn = '{"never finished';
      writeFileSync(file(), framed([line(0), line(1)]));
      appendFileSync(file(), torn);
      // The first `open` is the journal's own.
      let left = call === 'open' ? 2 : 1;
      const disk = faultDisk(c => {
        if (c === call && --left === 0) throw systemError('ENOSPC');
        return undefined;
      });
      await assert.rejects(openJournal(file(), disk), is('tail'));
      assert.equal(left, 0);
      const held = readFileSync(file())
        .subarray(framed([line(0), line(1)]).length)
        .toString();
      assert.ok(held === torn || kept(folder()).some(b => b.toString() === torn));
      const journal = await openJournal(file());
      assert.deepEqual(await all(journal), [line(0), line(1)]);
      await journal.close();
      assert.ok(kept(folder()).some(b => b.toString() === torn));
    });

  it('is on stable storage, name and all, before it is used', async () => {
    const disk = faultDisk(() => undefined);
    await createJournal(file(), disk);
    assert.deepEqual(disk.calls, ['open', 'sync', 'syncFolder']);
  });

  it('acknowledges after the fdatasync, with one write for all that waited', async () => {
    const { journal, disk } = await failing(() => undefined);
    disk.calls.length = 0;
    await Promise.all(Array.from({ length: 64 }, (_, n) => journal.append(line(n))));
    assert.deepEqual(disk.calls, ['write', 'datasync']);
    await journal.close();
  });
});
