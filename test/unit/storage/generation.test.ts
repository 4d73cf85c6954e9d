import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readConfig } from '../../../extension/storage/archiveConfig';
import { openArchiveFolder } from '../../../extension/storage/archiveFolder';
import type { Disk } from '../../../extension/storage/disk';
import { replaceJournal, type FoundConfig } from '../../../extension/storage/generation';
import { capture, capturedTexts, ME, own, ownDir, ownJournal, said } from './archives';
import { crashDisk, faultDisk, systemError } from './faultDisk';
import { framed } from './journals';
import { useScratch } from './scratch';

/** What a new generation holds: one message less, numbered anew. */
const OLD = ['zero', 'one', 'two'];
const NEW = ['zero', 'two'];

describe('A journal generation', function () {
  this.timeout(120_000);
  const root = useScratch();
  const config = () => path.join(ownDir(root()), 'config.json');

  async function fill(texts: readonly string[], at = root()): Promise<string[]> {
    const { archive, folder, close } = await own(at);
    for (const [i, text] of texts.entries())
      await archive.append({ capture: capture(i), message: said(text) });
    const lines: string[] = [];
    for (const { json } of (await folder.source.read(0)).frames) lines.push(json);
    await close();
    return lines;
  }

  /** The lines of a journal that holds only `NEW`. */
  async function newLines(): Promise<string[]> {
    const elsewhere = path.join(root(), 'elsewhere');
    const lines = await fill(NEW, elsewhere);
    rmSync(elsewhere, { recursive: true });
    return lines;
  }

  async function found(): Promise<FoundConfig> {
    const read = await readConfig(config());
    assert.ok(read.state === 'read');
    return read;
  }

  async function swap(lines: readonly string[], disk?: Disk) {
    return replaceJournal(ownDir(root()), await found(), lines, disk);
  }

  function journals(): string[] {
    return readdirSync(ownDir(root())).filter(name => name.startsWith('journal'));
  }

  it('takes the place of the one before, which is deleted, and goes on from there', async () => {
    const lines = await newLines();
    await fill(OLD);
    const { config: now, left } = await swap(lines);
    assert.deepEqual([now.generation, left], [2, undefined]);
    assert.deepEqual(journals(), ['journal-2.jsonl']);
    const { archive, close } = await own(root());
    assert.equal(archive.state.commits, 2);
    await archive.append({ capture: capture(7), message: said('later') });
    await close();
    assert.deepEqual(capturedTexts(ownJournal(root(), 2)), [...NEW, 'later']);
    await swap(lines);
    assert.deepEqual(journals(), ['journal-3.jsonl']);
  });

  it('is written and synced whole before the configuration names it, and the old one goes last', async () => {
    const lines = await newLines();
    await fill(OLD);
    const disk = faultDisk(() => undefined);
    await swap(lines, disk);
    const replace = ['open', 'write', 'sync', 'rename', 'syncFolder'];
    assert.deepEqual(disk.calls, [
      ...replace,
      ...['open', 'write', 'sync', 'syncFolder'],
      ...replace,
      ...['unlink', 'syncFolder'],
    ]);
  });

  // D4 11.
  it('is the old or the new one, whole, whichever call of the swap its writer died at', async () => {
    const lines = await newLines();
    await fill(OLD);
    let calls = 0;
    const saved = path.join(root(), 'saved');
    cpSync(ownDir(root()), saved, { recursive: true });
    const counting = crashDisk(Infinity, () => calls++);
    await swap(lines, counting);
    assert.ok(calls >= 16, `${calls} calls`);
    const seen = { old: 0, new: 0 };
    for (let at = 0; at < calls; at++) {
      rmSync(ownDir(root()), { recursive: true });
      cpSync(saved, ownDir(root()), { recursive: true });
      const outcome = await swap(lines, crashDisk(at)).catch(() => undefined);
      if (outcome) assert.ok(outcome.left !== undefined || at >= calls - 1);
      const { archive, folder, close } = await own(root());
      assert.equal(archive.readOnly, undefined);
      const { generation } = folder.config;
      assert.ok(generation === 1 || generation === 2);
      seen[generation === 1 ? 'old' : 'new']++;
      await archive.append({ capture: capture(9), message: said('on') });
      await close();
      const texts = [...(generation === 1 ? OLD : NEW), 'on'];
      assert.deepEqual(capturedTexts(ownJournal(root(), generation)), texts, `call ${at}`);
      assert.deepEqual(journals(), [`journal-${generation}.jsonl`], `call ${at}`);
      assert.deepEqual(
        readdirSync(ownDir(root())).filter(name => name.endsWith('.tmp')),
        [],
      );
    }
    assert.ok(seen.old >= 8 && seen.new >= 3, JSON.stringify(seen));
  });

  for (const code of ['ENOSPC', 'EACCES'])
    it(`leaves the old or the new one when ${code} comes at each call, and can be tried again`, async () => {
      const lines = await newLines();
      for (let at = 0; ; at++) {
        rmSync(path.join(root(), 'sessions'), { recursive: true, force: true });
        await fill(OLD);
        let n = 0;
        const disk = faultDisk(() => {
          if (n++ === at) throw systemError(code);
          return undefined;
        });
        const outcome = await swap(lines, disk).catch((error: unknown) => String(error));
        if (typeof outcome === 'string')
          assert.match(outcome, new RegExp(`${code}.*Nothing of what was stored.*Free`, 's'));
        await (await own(root())).close();
        const { config: now } = await swap(lines);
        assert.deepEqual(journals(), [`journal-${now.generation}.jsonl`]);
        assert.deepEqual(capturedTexts(ownJournal(root(), now.generation)), NEW);
        if (n <= at) break;
      }
    });

  it('that nobody announced is never deleted: the archive is refused and says why', async () => {
    await fill(OLD);
    writeFileSync(ownJournal(root(), 2), framed(['{"n":0,"at":1,"ops":[]}']), { mode: 0o600 });
    const before = readFileSync(ownJournal(root()));
    const refused = await openArchiveFolder(root(), ME);
    assert.ok(refused.state === 'refused');
    assert.match(
      refused.reason,
      /journal-2\.jsonl is newer than .*Nothing was changed.*Restore config\.json/s,
    );
    assert.ok(readFileSync(ownJournal(root())).equals(before));
    assert.ok(existsSync(ownJournal(root(), 2)));
  });

  it('that lost bytes, or is damaged, does not cost the one that it replaced', async () => {
    const lines = await newLines();
    await fill(OLD);
    const old = readFileSync(ownJournal(root()));
    let unlinks = 0;
    const disk = faultDisk(call => {
      if (call === 'unlink' && unlinks++ === 0) throw systemError('EACCES');
      return undefined;
    });
    const { left } = await swap(lines, disk);
    assert.equal(left, ownJournal(root()));
    const whole = readFileSync(ownJournal(root(), 2));
    const flipped = Buffer.from(whole);
    flipped.writeUInt8(flipped.readUInt8(30) ^ 1, 30);
    writeFileSync(ownJournal(root(), 2), flipped);
    const { archive, close } = await own(root());
    assert.match(archive.readOnly ?? '', /damaged at byte 0/);
    await close();
    assert.ok(readFileSync(ownJournal(root())).equals(old), 'kept beside a damaged one');
    writeFileSync(ownJournal(root(), 2), whole);
    truncateSync(ownJournal(root(), 2), whole.length - 5);
    await assert.rejects(
      own(root()),
      /has lost its last \d+ bytes.*journal-1\.jsonl, which it replaced, is still there/s,
    );
    assert.ok(readFileSync(ownJournal(root())).equals(old));
    writeFileSync(ownJournal(root(), 2), whole);
    await (await own(root())).close();
    assert.ok(!existsSync(ownJournal(root())), 'gone once the new one is found whole');
  });

  it('keeps what another version wrote into the configuration', async () => {
    const lines = await newLines();
    await fill(OLD);
    const before = JSON.parse(readFileSync(config(), 'utf8')) as Record<string, unknown>;
    writeFileSync(config(), JSON.stringify({ ...before, budgets: { view: 1 } }));
    await swap(lines);
    const { replaced, ...now } = JSON.parse(readFileSync(config(), 'utf8')) as Record<string, unknown>;
    assert.deepEqual(now, { ...before, generation: 2, budgets: { view: 1 } });
    assert.deepEqual(replaced, { generation: 1, bytes: framed(lines).length });
  });
});
