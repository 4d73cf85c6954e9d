import assert from 'node:assert/strict';
import { ArchiveFollower } from '../../../extension/archive/follower';
import { ROOT_CHAIN } from '../../../extension/archive/ids';
import type { FoundJournal, JournalPiece, JournalSource } from '../../../extension/archive/ports';
import { bind, longConversation, openArchive, user } from './conversation';
import { FaultyJournal } from './faultyJournal';
import { digest } from './stateDigest';

/** A journal of messages that begin with that word. */
async function journalOf(word: string, rounds = 3): Promise<FaultyJournal> {
  const journal = new FaultyJournal();
  const archive = await openArchive(journal);
  let chain = ROOT_CHAIN;
  for (let i = 0; i < rounds; i++)
    chain = await bind(archive, longConversation(1, `${word} ${i} `), chain, `${word}${i}-`);
  return journal;
}

/** The same journal, a line at a time, with something happening before each reading. */
function slowly(source: JournalSource, before: (from: number) => void): JournalSource {
  return {
    read: async (from): Promise<JournalPiece> => {
      before(from);
      const piece = await source.read(from);
      const frames = piece.frames.slice(0, 1);
      return { ...piece, frames, next: from + frames.length, more: piece.frames.length > 1 };
    },
    frame: ref => source.frame(ref),
  };
}

async function said(follower: ArchiveFollower): Promise<string> {
  const branch = follower.state.branch(follower.state.newest) ?? assert.fail();
  const texts: string[] = [];
  for (let i = 0; i < branch.records; i++) texts.push(await branch.raw(i));
  return texts.join('\n');
}

describe('a follower of an archive', () => {
  it('goes on where it stopped, however often it is asked at once, and says when something is new', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    const asked: number[] = [];
    const follower = new ArchiveFollower(slowly(journal.source, from => asked.push(from)));
    let chain = ROOT_CHAIN;
    for (let i = 0; i < 4; i++) {
      chain = await bind(archive, [user(`message ${i}`)], chain, `e${i}`);
      const news = await Promise.all([follower.refresh(), follower.refresh(), follower.refresh()]);
      assert.ok(news.includes(true));
      assert.equal(await follower.refresh(), false);
      assert.deepEqual(await digest(follower.state), await digest(archive.state));
    }
    assert.equal(asked.filter(from => from === 0).length, 1, 'the first line is read once');
    assert.equal(follower.started, 1);
  });

  it('shows the old journal until the new one is read, and never a mixture', async () => {
    const [old, fresh] = [await journalOf('old'), await journalOf('fresh', 5)];
    let now: FoundJournal = { generation: 1, source: old.source };
    const follower = new ArchiveFollower(() => Promise.resolve(now));
    await follower.refresh();
    assert.match(await said(follower), /old 2/);
    const seen = new Set<string>();
    const look = () => seen.add(`${follower.started} ${follower.state.commits}`);
    now = { generation: 2, source: slowly(fresh.source, look) };
    assert.equal(await follower.refresh(), true);
    assert.deepEqual([...seen], ['1 3'], 'until the end the old one, whole');
    assert.equal(follower.started, 2);
    assert.match(await said(follower), /fresh 4/);
    assert.doesNotMatch(await said(follower), /old/);
  });

  it('starts again when the journal is replaced, and gone, in the middle of a reading', async () => {
    const [old, fresh] = [await journalOf('old'), await journalOf('fresh')];
    let now: FoundJournal = { generation: 2, source: fresh.source };
    const gone: FoundJournal = {
      generation: 1,
      source: slowly(old.source, from => {
        if (from < 2) return;
        now = { generation: 2, source: fresh.source };
        throw new Error('ENOENT: no such file');
      }),
    };
    now = gone;
    const follower = new ArchiveFollower(() => Promise.resolve(now));
    await follower.refresh();
    assert.equal(follower.failure, undefined);
    assert.match(await said(follower), /^user: fresh 0/);
    assert.doesNotMatch(await said(follower), /old/);
  });

  it('fails in a sentence while there is nothing to read, keeps what it had, and goes on when it is back', async () => {
    const journal = await journalOf('kept');
    let missing = true;
    const follower = new ArchiveFollower(() =>
      missing
        ? Promise.reject(new Error('The folder is not there.'))
        : Promise.resolve({ generation: 1, source: journal.source }),
    );
    assert.equal(await follower.refresh(), true);
    assert.equal(follower.failure, 'The folder is not there.');
    assert.throws(() => follower.state, /not there/);
    missing = false;
    assert.equal(await follower.refresh(), true);
    assert.equal(follower.failure, undefined);
    missing = true;
    assert.equal(await follower.refresh(), true);
    assert.equal(follower.failure, 'The folder is not there.');
    assert.match(await said(follower), /kept 2/);
  });

  it('names damage, reads no further, and reads anew once the journal is whole again', async () => {
    const whole = await journalOf('whole', 4);
    const broken = await FaultyJournal.of([...whole.lines.slice(0, 2), '{"n":7}', ...whole.lines.slice(3)]);
    let source = broken.source;
    const follower = new ArchiveFollower(() =>
      Promise.resolve({ generation: source === broken.source ? 1 : 2, source }),
    );
    await follower.refresh();
    assert.equal(follower.tail.state, 'damaged');
    assert.equal(follower.state.commits, 2);
    assert.equal(await follower.refresh(), false);
    source = whole.source;
    assert.equal(await follower.refresh(), true);
    assert.equal(follower.tail.state, 'clean');
    assert.equal(follower.state.commits, 4);
  });

  it('lets others run while it reads', async () => {
    const journal = await journalOf('long', 30);
    let turns = 0;
    let reading = true;
    const count = (): void => {
      turns++;
      if (reading) setImmediate(count);
    };
    setImmediate(count);
    await new ArchiveFollower(slowly(journal.source, () => {})).refresh();
    reading = false;
    assert.ok(turns >= 29, `${turns} turns`);
  });
});
