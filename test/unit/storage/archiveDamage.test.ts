import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { ROOT_CHAIN, type Chain, type EntryId } from '../../../extension/archive/ids';
import { capture, capturedTexts, openAndRead, own, ownDir, ownJournal, said } from './archives';
import { crashDisk } from './faultDisk';
import { kept } from './journals';
import { useScratch } from './scratch';

const MESSAGES = 12;

describe('A damaged archive', function () {
  this.timeout(120_000);
  const root = useScratch();
  let whole = Buffer.alloc(0);
  /** Where each line starts, and where the last one ends. */
  let starts: number[] = [];

  beforeEach(async () => {
    const { archive, close } = await own(root());
    for (let i = 0; i < MESSAGES; i++)
      await archive.append({
        capture: capture(i),
        message: said(`${i} ${'é漢🙂'.repeat(i < 9 ? (i * 37) % 120 : i - 8)}`),
      });
    await close();
    whole = readFileSync(ownJournal(root()));
    starts = [0];
    for (let at = whole.indexOf(0x0a); at >= 0; at = whole.indexOf(0x0a, at + 1)) starts.push(at + 1);
    assert.equal(starts.length, MESSAGES + 1);
  });

  function lineAt(offset: number): number {
    return starts.findLastIndex(start => start <= offset);
  }
  function put(bytes: Buffer): void {
    for (const name of readdirSync(ownDir(root())))
      if (name.startsWith('journal')) rmSync(path.join(ownDir(root()), name));
    writeFileSync(ownJournal(root()), bytes, { mode: 0o600 });
  }

  /** Opens an archive whose lines `hit` to `last` are bad, and checks the rules of recovery. */
  async function judge(bytes: Buffer, hit: number, last = hit): Promise<void> {
    put(bytes);
    const start = starts[hit] as number;
    const { archive, close } = await own(root());
    assert.equal(archive.state.commits, hit);
    if (last === MESSAGES - 1) {
      assert.equal(archive.readOnly, undefined);
      assert.deepEqual(kept(ownDir(root())), [bytes.subarray(start)]);
      await archive.append({ capture: capture(99), message: said('next') });
      await close();
      assert.ok(readFileSync(ownJournal(root())).subarray(0, start).equals(whole.subarray(0, start)));
      assert.equal(capturedTexts(ownJournal(root())).at(-1), 'next');
      return;
    }
    assert.match(archive.readOnly ?? '', new RegExp(`damaged at byte ${start}:`));
    await assert.rejects(
      archive.append({ capture: capture(99), message: said('next') }),
      /Nothing was deleted. Run "strata verify"/,
    );
    await close();
    assert.ok(readFileSync(ownJournal(root())).equals(bytes), 'a byte was changed');
    assert.deepEqual(kept(ownDir(root())), []);
  }

  // D4 1.
  it('cut at every byte of its last three lines, has the longest whole run and takes the next message', async () => {
    const from = starts[MESSAGES - 3] as number;
    assert.ok(whole.length - from > 500);
    for (let cut = from; cut <= whole.length; cut++) {
      put(whole.subarray(0, cut));
      const good = starts.filter(start => start <= cut).length - 1;
      const end = starts[good] as number;
      const { archive, close } = await own(root());
      assert.equal(archive.state.commits, good);
      await archive.append({ capture: capture(99), message: said('next') });
      await close();
      assert.deepEqual(kept(ownDir(root())), end === cut ? [] : [whole.subarray(end, cut)]);
      assert.ok(readFileSync(ownJournal(root())).subarray(0, end).equals(whole.subarray(0, end)));
      const texts = capturedTexts(ownJournal(root()));
      assert.deepEqual([texts.length, texts.at(-1)], [good + 1, 'next']);
    }
  });

  // D4 3.
  it('is noticed in 500 of 500 flipped bits: the last line put aside, elsewhere no byte changed', async () => {
    let found = 0;
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(7), async (at, bit) => {
        const bytes = Buffer.from(whole);
        bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at);
        await judge(bytes, lineAt(at));
        found++;
      }),
      { numRuns: 500 },
    );
    assert.equal(found, 500);
  });

  // D4 4.
  for (const length of [1, 8, 512, 4096])
    it(`is noticed when ${length} of its bytes are zeros, in the middle and at the end`, async () => {
      const last = starts[MESSAGES - 1] as number;
      for (const at of [0, 7, 500, last - length - 40, last - length, last, whole.length - length]) {
        if (at < 0 || at + length > whole.length) continue;
        const bytes = Buffer.from(whole);
        bytes.fill(0, at, at + length);
        if (bytes.equals(whole)) continue;
        await judge(bytes, lineAt(at), lineAt(at + length - 1));
      }
    });

  // D4 6.
  it('does not count a whole line without its line end: it was never acknowledged', async () => {
    put(whole.subarray(0, -1));
    const { archive, close } = await own(root());
    assert.equal(archive.state.commits, MESSAGES - 1);
    await close();
    assert.deepEqual(kept(ownDir(root())), [whole.subarray(starts[MESSAGES - 1], -1)]);
  });

  // D4 7.
  it('is noticed when lines are swapped, doubled or missing although each of them is whole', async () => {
    const lines = starts.slice(0, -1).map((start, i) => whole.subarray(start, starts[i + 1]));
    const without = (i: number): Buffer[] => lines.filter((_, at) => at !== i);
    const line = (i: number): Buffer => lines[i] as Buffer;
    for (const [changed, hit] of [
      [[...lines.slice(0, 3), line(4), line(3), ...lines.slice(5)], 3],
      [[...lines.slice(0, 4), line(3), ...lines.slice(4)], 4],
      [[...lines, line(MESSAGES - 1)], MESSAGES],
      [without(5), 5],
      [without(0), 0],
    ] as const) {
      const bytes = Buffer.concat(changed);
      put(bytes);
      const { archive, close } = await own(root());
      assert.equal(archive.state.commits, hit);
      assert.match(archive.readOnly ?? '', new RegExp(`commit ${hit} expected`));
      await assert.rejects(archive.append({ capture: capture(99), message: said('x') }));
      await close();
      assert.ok(readFileSync(ownJournal(root())).equals(bytes));
    }
  });

  // D4 8.
  it('has every message in its branch after a torn tail, ten more and opening again', async () => {
    put(whole.subarray(0, -7));
    const { archive, close } = await own(root());
    let chain: Chain = ROOT_CHAIN;
    const bindOne = async (i: number): Promise<void> => {
      const reply = await archive.bind({
        after: chain,
        sources: [{ entry: `e${i}` as EntryId, capture: capture(i) }],
      });
      assert.ok(reply.ok);
      chain = reply.chain;
    };
    for (let i = 0; i < MESSAGES - 1; i++) await bindOne(i);
    for (let i = 50; i < 60; i++) {
      await archive.append({ capture: capture(i), message: said(`after ${i}`) });
      await bindOne(i);
    }
    await close();
    const again = await own(root());
    assert.equal(again.archive.readOnly, undefined);
    const branch = again.archive.branch();
    assert.equal(branch.records, MESSAGES - 1 + 10);
    for (let i = 0; i < MESSAGES - 1; i++) assert.match(await branch.raw(i), new RegExp(`^user: ${i} `));
    for (let i = 0; i < 10; i++) assert.equal(await branch.raw(MESSAGES - 1 + i), `user: after ${50 + i}`);
    assert.equal(again.archive.state.orphans, 0);
    await again.close();
  });

  // D4 12.
  it('is recovered to the same bytes whichever call the first recovery died at', async () => {
    const saved = path.join(root(), 'saved');
    let points = 0;
    const length = whole.length - (starts[MESSAGES - 1] as number);
    for (const torn of [
      1,
      2,
      8,
      16,
      17,
      18,
      19,
      33,
      60,
      length - 17,
      length - 8,
      length - 3,
      length - 2,
      length - 1,
    ]) {
      put(whole.subarray(0, (starts[MESSAGES - 1] as number) + torn));
      writeFileSync(path.join(ownDir(root()), '.config.json.0123456789ab.tmp'), 'half', { mode: 0o600 });
      rmSync(saved, { recursive: true, force: true });
      cpSync(ownDir(root()), saved, { recursive: true });
      const tail = whole.subarray(starts[MESSAGES - 1], (starts[MESSAGES - 1] as number) + torn);
      for (let at = 0; ; at++) {
        rmSync(ownDir(root()), { recursive: true });
        cpSync(saved, ownDir(root()), { recursive: true });
        const crashed = await openAndRead(root(), crashDisk(at)).catch(() => undefined);
        if (crashed?.state === 'opened') {
          await crashed.close();
          break;
        }
        points++;
        // A second recovery may die as well, one call further.
        await openAndRead(root(), crashDisk(at + 1)).then(
          opened => (opened.state === 'opened' ? opened.close() : undefined),
          () => undefined,
        );
        await (await own(root())).close();
        assert.ok(readFileSync(ownJournal(root())).equals(whole.subarray(0, starts[MESSAGES - 1])));
        const copies = kept(ownDir(root()));
        assert.ok(
          copies.some(copy => copy.equals(tail)),
          `no copy of the tail after call ${at}`,
        );
      }
    }
    assert.ok(points >= 100, `${points} points`);
  });
});
