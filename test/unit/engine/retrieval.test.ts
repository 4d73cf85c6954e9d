import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Archive } from '../../../extension/archive/archive';
import { ArchiveError } from '../../../extension/archive/archiveError';
import { LiteralSearch } from '../../../extension/archive/literalSearch';
import { pageOf } from '../../../extension/archive/page';
import type { RecordAnswer, SearchMatch } from '../../../extension/archive/retrieval';
import type { ZoomRequest } from '../../../extension/archive/requests';
import { bind, longConversation, openArchive, prepare, talk, text, user } from './conversation';
import { FakeCompactor } from './fakeCompactor';

const invalid = (e: unknown) => e instanceof ArchiveError && e.code === 'invalid';
const record = (start: number, offset = 0): ZoomRequest => ({ start, count: 1, offset });

async function wholeText(archive: Archive, start: number): Promise<string> {
  let joined = '';
  for (let offset: number | null = 0; offset !== null;) {
    const page = (await archive.zoom(record(start, offset))) as RecordAnswer;
    joined += page.text;
    offset = page.next;
  }
  return joined;
}

describe('zoom', () => {
  it('gives an original back byte for byte over its pages, and where it comes from', async () => {
    const archive = await openArchive();
    const original = 'á🧠漢字a'.repeat(6000);
    const chain = await bind(archive, [user('short'), talk(original, 1_700_000_000_123)]);
    assert.equal(await wholeText(archive, 1), `talk: ${original}`);
    const answer = (await archive.zoom(record(1))) as RecordAnswer;
    assert.deepEqual(
      { ...answer, text: '' },
      {
        branch: chain,
        address: '1+1',
        kind: 'talk',
        sourceEntry: `${chain}/0`,
        piEntryId: 'e1',
        timestamp: '2023-11-14T22:13:20.123Z',
        text: '',
        bytes: Buffer.byteLength(`talk: ${original}`),
        next: Buffer.byteLength(answer.text),
      },
    );
  });

  it('opens a line into the lines of both halves, down to the records', async () => {
    const archive = await openArchive();
    const chain = await bind(archive, longConversation(4));
    await prepare(archive, 't1', chain, new FakeCompactor());
    const top = await archive.zoom({ start: 0, count: 16, offset: 0 });
    assert.ok('children' in top);
    assert.deepEqual(
      top.children.map(child => child.address),
      ['0+8', '8+8'],
    );
    const pair = await archive.zoom({ start: 0, count: 2, offset: 0 });
    assert.ok('children' in pair);
    assert.equal(pair.children[0]?.text, 'user: please do step 0');
  });

  it('works on originals before anything is summarised, and says what is not there', async () => {
    const archive = await openArchive();
    await assert.rejects(archive.zoom(record(0)), /Nothing is remembered yet/);
    await bind(archive, [user(text('long', 3000)), user('b')]);
    assert.equal(await wholeText(archive, 0), `user: ${text('long', 3000)}`);
    await assert.rejects(
      archive.zoom({ start: 0, count: 2, offset: 0 }),
      /not summarised yet: 0 of 2 records/,
    );
    for (const bad of [
      record(2),
      record(-1),
      record(0.5),
      { start: 1, count: 2, offset: 0 },
      record(1, 99),
      record(1, -1),
    ])
      await assert.rejects(archive.zoom(bad), invalid, JSON.stringify(bad));
    assert.throws(() => archive.date({ start: 2 }), invalid);
    assert.equal(archive.date({ start: 1 }).timestamp, '2023-11-14T22:13:20.000Z');
    await assert.rejects(async () => archive.zoom({ ...record(0), chain: 'f'.repeat(32) as never }), invalid);
  });

  it('reads the branch that is named, not the one in use', async () => {
    const archive = await openArchive();
    const left = await bind(archive, [user('root'), user('left')]);
    const right = await bind(archive, [user('root'), user('right')]);
    assert.equal(((await archive.zoom({ ...record(1), chain: left })) as RecordAnswer).text, 'user: left');
    assert.equal(((await archive.zoom(record(1))) as RecordAnswer).text, 'user: right');
    assert.equal((await archive.zoom(record(1))).branch, right);
    assert.equal((await archive.search({ query: 'left', from: 0 })).matches.length, 0);
    assert.equal((await archive.search({ query: 'left', from: 0, chain: left })).matches.length, 1);
  });

  it('reads the branch of the running turn when a session went back to an earlier point', async () => {
    const archive = await openArchive();
    const early = await bind(archive, [user('root')]);
    await bind(archive, [user('root'), user('abandoned')]);
    await prepare(archive, 'back', early, new FakeCompactor());
    assert.equal((await archive.search({ query: 'abandoned', from: 0 })).matches.length, 0);
    await assert.rejects(async () => archive.zoom(record(1)), invalid);
    assert.equal((await archive.zoom(record(0))).branch, early);
  });
});

describe('a page', () => {
  it('joined with the others is the text, whatever the text and the size', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 200 }),
        fc.integer({ min: 4, max: 40 }),
        (raw, limit) => {
          const whole = raw.replace(/\p{Surrogate}/gu, '?');
          let joined = '';
          for (let offset: number | null = 0; offset !== null;) {
            const page: ReturnType<typeof pageOf> = pageOf(whole, offset, limit);
            assert.ok(page && Buffer.byteLength(page.text) <= limit);
            joined += page.text;
            offset = page.next;
          }
          assert.equal(joined, whole);
        },
      ),
    );
  });
});

describe('search', function () {
  this.timeout(30_000);
  it('finds exactly what a naive search finds, page by page', async () => {
    const word = fc.constantFrom(
      'needle',
      'NEEDLE',
      'Straße',
      'İstanbul',
      'ΟΔΟΣ',
      'οδος',
      'haystack',
      '🧠',
      'a.b',
      'K',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(word, { maxLength: 4 }), { minLength: 1, maxLength: 300 }),
        fc.constantFrom(
          'needle',
          'STRASSE',
          'straße',
          'istanbul',
          'οδοσ',
          '🧠',
          'a.b',
          'k',
          'user: n',
          'nothing',
        ),
        async (records, query) => {
          const archive = await openArchive();
          await bind(
            archive,
            records.map((words, i) => user(`${i} ${words.join(' ')}`)),
          );
          const fold = (t: string) => Array.from(t, foldOne).join('');
          const expected = records.flatMap((words, i) =>
            fold(`user: ${i} ${words.join(' ')}`).includes(fold(query)) ? [`${i}+1`] : [],
          );
          const found: string[] = [];
          let pages = 0;
          for (let from: number | null = 0; from !== null; pages++) {
            const page: Awaited<ReturnType<Archive['search']>> = await archive.search({ query, from });
            assert.ok(page.scanned <= 250 && page.matches.length <= 20);
            assert.equal(page.total, records.length);
            found.push(...page.matches.map(match => match.address));
            from = page.next;
          }
          assert.deepEqual(found, expected);
          assert.ok(pages >= Math.ceil(records.length / 250));
        },
      ),
      { numRuns: 25 },
    );
  });

  it('finds a text deep in a long original and names its entry', async () => {
    const archive = await openArchive();
    await bind(archive, [
      user('x'),
      user(`${'filler '.repeat(20_000)}the hidden Treasure ${'filler '.repeat(100)}`),
    ]);
    const { matches } = await archive.search({ query: 'hidden treasure', from: 0 });
    const [match] = matches as [SearchMatch];
    assert.equal(match.address, '1+1');
    assert.equal(match.piEntryId, 'e1');
    assert.match(match.snippet, /the hidden Treasure/);
    assert.ok(match.snippet.length <= 260);
  });

  it('cuts no surrogate pair and shows the match itself', () => {
    for (let pad = 0; pad < 4; pad++) {
      const snippet = new LiteralSearch('needle').snippet(
        `${'x'.repeat(pad)}${'🧠'.repeat(200)}needle${'🧠'.repeat(200)}`,
      );
      assert.ok(snippet);
      assert.match(snippet, /needle/);
      assert.doesNotMatch(snippet, /\p{Surrogate}/u);
    }
    assert.equal(new LiteralSearch('É').snippet('caf\u00e9'), 'caf\u00e9');
    assert.ok(
      new LiteralSearch('a'.repeat(200))
        .snippet('b'.repeat(500) + 'A'.repeat(200))
        ?.endsWith('A'.repeat(200)),
    );
  });

  it('refuses a blank or overlong text and a start past the end', async () => {
    const archive = await openArchive();
    await bind(archive, [user('a')]);
    for (const bad of [
      { query: ' ', from: 0 },
      { query: 'x'.repeat(201), from: 0 },
      { query: 'a', from: 2 },
      { query: 'a', from: -1 },
    ])
      await assert.rejects(archive.search(bad), invalid, JSON.stringify(bad));
    assert.deepEqual((await archive.search({ query: 'a', from: 1 })).matches, []);
  });
});

/** Unicode's simple case folding of the characters used here, by a way of its own. */
function foldOne(point: string): string {
  if (point === 'ς') return 'σ';
  if (point === '\u212a') return 'k';
  const lower = point.toLowerCase();
  return lower.length === point.length ? lower : point;
}
