import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Archive } from '../../../extension/archive/archive';
import { encodeCheckpoint } from '../../../extension/archive/checkpoint';
import { JournalPosition } from '../../../extension/archive/journalPosition';
import type { CheckpointStore } from '../../../extension/archive/ports';
import { replayJournal, type Replay } from '../../../extension/archive/replay';
import { bind, longConversation, openArchive, prepare } from './conversation';
import { FakeCompactor } from './fakeCompactor';
import { FaultyJournal } from './faultyJournal';
import { History, step } from './history';
import { digest } from './stateDigest';

/** A journal in memory that keeps a checkpoint. */
class KeepingJournal extends FaultyJournal {
  kept: Buffer | undefined;
  writes = 0;
  /** What it says it covers; 0 is a hint that helps nothing. */
  covered: number | undefined;
  readonly checkpoint: CheckpointStore = {
    read: () => Promise.resolve(this.kept),
    covers: () => Promise.resolve(this.kept && (this.covered ?? 0)),
    write: (parts, covers) => {
      this.covered = covers;
      this.writes++;
      this.kept = Buffer.concat(parts);
      return Promise.resolve();
    },
  };

  static async with(lines: readonly string[], kept: Uint8Array): Promise<KeepingJournal> {
    const journal = new KeepingJournal();
    for (const line of lines) await journal.append(line);
    journal.kept = Buffer.from(kept);
    return journal;
  }
}

/** The checkpoint of the state that these lines lead to. */
async function checkpointOf(lines: readonly string[]): Promise<Uint8Array> {
  const { state, position } = await replayJournal(await FaultyJournal.of(lines));
  return Buffer.concat(encodeCheckpoint({ place: position.place(), saved: state.save() }) ?? []);
}

async function story(prefix = ''): Promise<{ archive: Archive; journal: FaultyJournal }> {
  const journal = new FaultyJournal();
  const archive = await openArchive(journal, { viewBytes: 4096 });
  let chain = await bind(archive, longConversation(6, prefix));
  await prepare(archive, 't1', chain, new FakeCompactor());
  chain = await bind(archive, longConversation(3, `${prefix}more `), chain, 'f');
  await prepare(archive, 't2', chain, new FakeCompactor());
  await archive.settled({ turn: 't2' as never, requests: 3, status: 200 });
  await bind(archive, longConversation(1, `${prefix}other `), undefined, 'g');
  await archive.setMode(true);
  return { archive, journal };
}

/** Another valid line of the same length: only its time differs. */
function tampered(line: string): string {
  return line.replace(/"at":1\d{12}/, '"at":1999999999999');
}

/** All that it says, with what a person would find in it. */
async function answers(replay: Replay): Promise<unknown> {
  assert.equal(replay.damage, undefined);
  const places = replay.position.place();
  return { state: await digest(replay.state), places };
}

describe('a checkpoint', function () {
  this.timeout(120_000);

  it('changes nothing about an archive, at whatever commit it was made', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 10 }), async steps => {
        const journal = new FaultyJournal();
        const history = new History(await openArchive(journal, { viewBytes: 4096 }));
        for (const one of steps) await history.happen(one);
        const expected = await answers(await replayJournal(await FaultyJournal.of(journal.lines)));
        for (let commits = 0; commits <= journal.lines.length; commits++) {
          const kept = await checkpointOf(journal.lines.slice(0, commits));
          const replay = await replayJournal(await KeepingJournal.with(journal.lines, kept));
          assert.equal(replay.replayed.commits, journal.lines.length - commits, 'the rest alone is replayed');
          assert.deepEqual(await answers(replay), expected, `${commits} of ${journal.lines.length}`);
        }
      }),
      { numRuns: 25 },
    );
  });

  it('of a state goes on as the state itself does', async () => {
    const { journal } = await story();
    const half = Math.floor(journal.lines.length / 2);
    const kept = await checkpointOf(journal.lines.slice(0, half));
    const archive = await openArchive(await KeepingJournal.with(journal.lines, kept), { viewBytes: 4096 });
    const plain = await openArchive(await FaultyJournal.of(journal.lines), { viewBytes: 4096 });
    for (const one of [archive, plain]) {
      const chain = await bind(one, longConversation(4, 'later '), one.chain, 'h');
      await prepare(one, 't3', chain, new FakeCompactor());
    }
    assert.deepEqual(await digest(archive.state), await digest(plain.state));
    const search = { query: 'answer', from: 0 };
    assert.deepEqual(await archive.search(search), await plain.search(search));
    assert.deepEqual(await archive.status(), await plain.status());
  });

  it('of another journal, of a later one, or of one cut since is not believed', async () => {
    const { journal } = await story();
    const other = (await story('elsewhere ')).journal;
    const { lines } = journal;
    const wrong: Record<string, Uint8Array> = {
      foreign: await checkpointOf(other.lines),
      'of the same length': await checkpointOf(lines.slice(0, -2).map(tampered)),
      later: await checkpointOf(lines),
    };
    const shorter = lines.slice(0, -2);
    const expected = await answers(await replayJournal(await FaultyJournal.of(shorter)));
    for (const [what, kept] of Object.entries(wrong)) {
      const replay = await replayJournal(await KeepingJournal.with(shorter, kept));
      assert.equal(replay.replayed.commits, shorter.length, what);
      assert.deepEqual(await answers(replay), expected, what);
    }
  });

  it('with any byte changed or cut off beneath a checksum that fits is not believed, or ends in an error at the most', async () => {
    const { journal } = await story();
    const { lines } = journal;
    const whole = Buffer.from(await checkpointOf(lines));
    const expected = await answers(await replayJournal(await FaultyJournal.of(lines)));
    let refused = 0;
    // Without the file's checksum, which alone would refuse every one of these.
    for (let at = 0; at < whole.length; at += 37) {
      const bytes = at % 2 === 0 ? Buffer.from(whole) : whole.subarray(0, at);
      if (at % 2 === 0) bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
      const replay = await replayJournal(await KeepingJournal.with(lines, bytes));
      assert.equal(replay.damage, undefined);
      if (replay.replayed.commits === 0)
        await digest(replay.state).catch((e: unknown) => assert.ok(e instanceof Error));
      else {
        refused++;
        assert.deepEqual(await answers(replay), expected);
      }
    }
    assert.ok(refused > 20, `${refused} refused`);
  });

  it('is written while the archive grows and when it is closed, and its failure hurts nobody', async () => {
    const journal = new KeepingJournal();
    const archive = await openArchive(journal);
    await bind(archive, longConversation(5));
    assert.equal(journal.writes, 0);
    await archive.close();
    assert.equal(journal.writes, 1);
    const again = await openArchive(journal);
    await again.close();
    assert.equal(journal.writes, 1, 'nothing new, nothing written');
    const warnings: string[] = [];
    const log = { info: () => {}, warn: (text: string) => void warnings.push(text), error: () => {} };
    const full = await openArchive(journal, { log });
    journal.checkpoint.write = () => Promise.reject(new Error('ENOSPC'));
    await bind(full, longConversation(1, 'x'), full.chain, 'x');
    await full.close();
    assert.match(warnings.join(), /checkpoint could not be written.*ENOSPC.*Nothing is lost/);
    const replay = await replayJournal(journal);
    assert.equal(replay.replayed.commits, 1, 'the older one still serves');
  });

  it('names the lines before it, not their number of bytes alone', () => {
    const place = (crcs: number[]) => {
      const position = new JournalPosition();
      crcs.forEach((crc, i) => position.pass({ offset: i * 100, length: 100, crc }));
      return position.place();
    };
    assert.deepEqual(place([1, 2, 3]), place([1, 2, 3]));
    assert.notEqual(place([1, 2, 3]).hash, place([1, 3, 2]).hash);
    assert.equal(place([1, 2, 3]).byte, place([1, 3, 2]).byte);
  });
});
