import assert from 'node:assert/strict';
import { rmSync, statSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { ROOT_CHAIN, type EntryId } from '../../../extension/archive/ids';
import { nodeDisk } from '../../../extension/storage/disk';
import { capture, capturedTexts, commitNumbers, own, ownJournal, png, said, withImage } from './archives';
import { faultDisk, systemError, type Call } from './faultDisk';
import { useScratch } from './scratch';

const CODES = ['ENOSPC', 'EIO', 'EDQUOT', 'EACCES'];

describe('An archive on a disk', function () {
  this.timeout(120_000);
  const root = useScratch();

  it('writes 64 messages that come at once in one go, and acknowledges each after its fdatasync', async () => {
    const disk = faultDisk(() => undefined);
    const { archive, close } = await own(root(), disk);
    disk.calls.length = 0;
    await Promise.all(
      Array.from({ length: 64 }, (_, i) => archive.append({ capture: capture(i), message: said(`${i}`) })),
    );
    assert.deepEqual(disk.calls, ['write', 'datasync']);
    assert.equal(archive.state.orphans, 64);
    await close();
    assert.deepEqual(
      capturedTexts(ownJournal(root())),
      Array.from({ length: 64 }, (_, i) => `${i}`),
    );
  });

  it('has one write on its way at a time, and the next takes all that came meanwhile', async () => {
    let open = (): void => {};
    const gate = new Promise<void>(resolve => (open = resolve));
    const calls: string[] = [];
    let syncs = 0;
    const { archive, close } = await own(root(), {
      ...nodeDisk,
      open: async (name, mode) => {
        const file = await nodeDisk.open(name, mode);
        return {
          size: () => file.size(),
          read: (into, at) => file.read(into, at),
          truncate: size => file.truncate(size),
          sync: () => file.sync(),
          close: () => file.close(),
          write: (bytes, at) => {
            calls.push('write');
            return file.write(bytes, at);
          },
          datasync: async () => {
            calls.push('datasync');
            if (syncs++ === 0) await gate;
            await file.datasync();
          },
        };
      },
    });
    // Opening wrote the configuration.
    calls.length = 0;
    const first = archive.append({ capture: capture(0), message: said('first') });
    while (syncs === 0) await new Promise(resolve => setTimeout(resolve, 1));
    const rest = [1, 2, 3, 4, 5].map(i => archive.append({ capture: capture(i), message: said(`${i}`) }));
    await new Promise(resolve => setTimeout(resolve, 20));
    assert.deepEqual(calls, ['write', 'datasync'], 'nothing is written while a sync is on its way');
    assert.equal(archive.state.orphans, 0, 'nothing shows before it is stored');
    open();
    await Promise.all([first, ...rest]);
    assert.deepEqual(calls, ['write', 'datasync', 'write', 'datasync']);
    await close();
  });

  it('decides only on what all earlier messages have led to, and keeps the order of asking', async () => {
    const { archive, close } = await own(root());
    const asked = [
      archive.append({ capture: capture(0), message: said('zero') }),
      archive.append({ capture: capture(1), message: said('one') }),
      // Without a message: this only works when the captures before it are stored.
      archive.bind({
        after: ROOT_CHAIN,
        sources: [0, 1].map(i => ({ entry: `e${i}` as EntryId, capture: capture(i) })),
      }),
      archive.append({ capture: capture(2), message: said('two') }),
      archive.setMode(false),
      archive.append({ capture: capture(3), message: said('three') }),
    ] as const;
    const bound = await asked[2];
    assert.ok(bound.ok && bound.records === 2);
    await Promise.all(asked);
    await close();
    assert.deepEqual(capturedTexts(ownJournal(root())), ['zero', 'one', 'two', 'three']);
    const again = await own(root());
    assert.equal(again.archive.state.orphans, 2);
    assert.equal(again.archive.memory, false);
    await again.close();
  });

  it('fails everything behind a write that failed, and the next message starts right again', async () => {
    let full = false;
    const disk = faultDisk(call => {
      if (full && call === 'write') throw systemError('ENOSPC');
      return undefined;
    });
    const { archive, close } = await own(root(), disk);
    await archive.append({ capture: capture(0), message: said('kept') });
    full = true;
    const size = statSync(ownJournal(root())).size;
    const outcomes = await Promise.allSettled([
      archive.append({ capture: capture(1), message: said('lost 1') }),
      archive.setMode(false),
      archive.append({ capture: capture(2), message: said('lost 2') }),
      archive.append({ capture: capture(2), message: said('lost 2') }),
    ]);
    for (const outcome of outcomes)
      assert.ok(outcome.status === 'rejected' && /ENOSPC.*Free some disk space/.test(String(outcome.reason)));
    assert.equal(disk.calls.filter(call => call === 'truncate').length, 1, 'one attempt, one message');
    assert.equal(statSync(ownJournal(root())).size, size);
    assert.equal(archive.state.commits, 1);
    full = false;
    await archive.append({ capture: capture(2), message: said('again') });
    await close();
    assert.deepEqual(capturedTexts(ownJournal(root())), ['kept', 'again']);
    assert.deepEqual(commitNumbers(ownJournal(root())), [0, 1]);
  });

  // D4 18.
  it('opens and checks its file again after a failed fsync, and acknowledges nothing from memory', async () => {
    let broken = false;
    let syncs = 0;
    const disk = faultDisk(call => {
      if (broken && call === 'datasync' && syncs++ === 0) throw systemError('EIO');
      return undefined;
    });
    const { archive, close } = await own(root(), disk);
    await archive.append({ capture: capture(0), message: said('before') });
    broken = true;
    const failed = archive.append({ capture: capture(1), message: said('not on the disk') });
    const behind = archive.append({ capture: capture(2), message: said('behind it') });
    await assert.rejects(failed, /could not be brought to stable storage.*EIO.*safe/s);
    await assert.rejects(behind, /EIO/);
    assert.equal(archive.state.captured(capture(1)), undefined);
    disk.calls.length = 0;
    await archive.append({ capture: capture(3), message: said('after') });
    assert.deepEqual(disk.calls, ['open', 'sync', 'write', 'datasync']);
    await close();
    assert.deepEqual(capturedTexts(ownJournal(root())), ['before', 'after']);
  });

  it('stays closed to writing while its file cannot be checked, and says so each time', async () => {
    let broken = false;
    const disk = faultDisk(call => {
      if (broken && (call === 'datasync' || call === 'open')) throw systemError('EIO');
      return undefined;
    });
    const { archive, close } = await own(root(), disk);
    broken = true;
    for (const i of [0, 1, 2])
      await assert.rejects(archive.append({ capture: capture(i), message: said('x') }), /EIO/);
    broken = false;
    await archive.append({ capture: capture(4), message: said('back') });
    await close();
    assert.deepEqual(capturedTexts(ownJournal(root())), ['back']);
  });

  it('takes no line any more when acknowledged bytes are not as they were after a failed fsync', async () => {
    let broken = false;
    const disk = faultDisk(call => {
      if (broken && call === 'datasync') throw systemError('EIO');
      return undefined;
    });
    const { archive, close } = await own(root(), disk);
    await archive.append({ capture: capture(0), message: said('acknowledged') });
    broken = true;
    await assert.rejects(archive.append({ capture: capture(1), message: said('x') }), /EIO/);
    broken = false;
    const file = await nodeDisk.open(ownJournal(root()), 'edit');
    await file.write(Buffer.from('!'), 30);
    await file.close();
    await assert.rejects(
      archive.append({ capture: capture(2), message: said('y') }),
      /is damaged at byte 0: .*acknowledged/,
    );
    await assert.rejects(archive.append({ capture: capture(2), message: said('y') }), /is damaged at byte 0/);
    await close();
  });

  // D4 15: each call in turn, then at random.
  for (const code of CODES)
    it(`loses nothing acknowledged when ${code} comes at each call in turn, and goes on when it is over`, async () => {
      const work = async (fault: (call: Call) => void): Promise<number> => {
        let calls = 0;
        let on = false;
        const disk = faultDisk(call => {
          if (on) {
            calls++;
            fault(call);
          }
          return undefined;
        });
        const { archive, close } = await own(root(), disk);
        on = true;
        const acknowledged: string[] = [];
        for (let i = 0; i < 4; i++) {
          const message = i === 2 ? withImage(`${i}`, png(i)) : said(`${i}`);
          await archive.append({ capture: capture(i), message }).then(
            () => acknowledged.push(`${i}`),
            (error: unknown) => assert.match(String(error), new RegExp(`${code}.*safe.*(again|checks)`, 's')),
          );
        }
        on = false;
        await archive.append({ capture: capture(9), message: said('over') });
        await close();
        const texts = capturedTexts(ownJournal(root()));
        assert.deepEqual(texts, [...acknowledged, 'over']);
        const again = await own(root());
        assert.equal(again.archive.readOnly, undefined);
        assert.equal(again.archive.state.orphans, acknowledged.length + 1);
        await again.close();
        rmSync(path.join(root(), 'sessions'), { recursive: true });
        return calls;
      };
      const all = await work(() => {});
      assert.ok(all >= 10, `${all} calls`);
      for (let at = 0; at < all; at++) {
        let n = 0;
        await work(() => {
          if (n++ === at) throw systemError(code);
        });
      }
    });

  it('holds exactly what it acknowledged, in order and without a gap, on a disk that fails at random', async () => {
    const bursts = fc.array(fc.record({ size: fc.integer({ min: 1, max: 9 }), decides: fc.boolean() }), {
      minLength: 1,
      maxLength: 6,
    });
    const faults = fc.infiniteStream(
      fc.option(fc.constantFrom(...CODES, 'short'), { nil: undefined, freq: 2 }),
    );
    let failures = 0;
    await fc.assert(
      fc.asyncProperty(bursts, faults, async (plan, fault) => {
        let on = false;
        const disk = faultDisk((call, bytes) => {
          if (!on) return undefined;
          const { value } = fault.next() as { value: string | undefined };
          if (value === undefined) return undefined;
          if (value === 'short') return call === 'write' ? bytes >> 1 : undefined;
          throw systemError(value);
        });
        const { archive, close } = await own(root(), disk);
        on = true;
        const acknowledged: string[] = [];
        let ordinal = 0;
        for (const { size, decides } of plan) {
          const asked: Promise<unknown>[] = [];
          for (let i = 0; i < size; i++) {
            const at = ordinal++;
            asked.push(
              archive
                .append({ capture: capture(at), message: said(`${at}`) })
                .then(() => acknowledged.push(`${at}`)),
            );
            if (decides && i === size >> 1) asked.push(archive.setMode(ordinal % 2 === 0));
          }
          const settled = await Promise.allSettled(asked);
          failures += settled.filter(({ status }) => status === 'rejected').length;
        }
        on = false;
        await archive.append({ capture: capture(ordinal), message: said('last') });
        await close();
        const numbers = commitNumbers(ownJournal(root()));
        assert.deepEqual(capturedTexts(ownJournal(root())), [...acknowledged, 'last']);
        assert.deepEqual(
          numbers,
          numbers.map((_, i) => i),
        );
        const again = await own(root());
        assert.equal(again.archive.readOnly, undefined);
        assert.equal(again.archive.state.orphans, acknowledged.length + 1);
        await again.close();
        rmSync(path.join(root(), 'sessions'), { recursive: true });
      }),
      { numRuns: 60 },
    );
    assert.ok(failures > 50, `only ${failures} failures in all`);
  });
});
