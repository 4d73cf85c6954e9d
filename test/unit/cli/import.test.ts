import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { sourcesOf } from '../../../extension/archive/ancestry';
import { ArchiveFollower } from '../../../extension/archive/follower';
import type { SessionId } from '../../../extension/archive/ids';
import { recordsOf } from '../../../extension/archive/normalise';
import { rawText } from '../../../extension/archive/record';
import { zoom } from '../../../extension/archive/retrieval';
import { linesOf, parseSessionFile, pathTo } from '../../../extension/archive/sessionFile';
import { openArchiveFolder, readArchiveFolder } from '../../../extension/storage/archiveFolder';
import { useScratch } from '../storage/scratch';
import { folderState } from './folderState';
import { answer, strata } from './strata';

const OWN = 'test/fixtures/sessions/harbour-v3.jsonl';
/** A real session of Pi's own developers; not part of this repository. */
const REAL = '../shared/data/sessions/pi-mono-before-compaction.jsonl';

interface Imported {
  readonly dir: string;
  readonly messages: number;
  readonly records: number;
  readonly skipped: number;
  readonly branches: number;
  readonly added: number;
}

/** The raw texts that the file says its last branch has. */
function textsOf(name: string): string[] {
  const leaf = parseSessionFile(linesOf(fs.readFileSync(name)))?.leaves.at(-1);
  assert.ok(leaf);
  return sourcesOf(pathTo(leaf)).flatMap(({ message }) => recordsOf(message).map(rawText));
}

/** Every visible text that the file's lines hold, in their order: read with nothing of ours. */
function plainTexts(name: string): string[] {
  const entries = fs.readFileSync(name, 'utf8').trim().split('\n');
  return entries.flatMap(line => {
    const { type, message } = JSON.parse(line) as {
      type: string;
      message?: { role: string; content: string | { type: string; text?: string; arguments?: unknown }[] };
    };
    if (type !== 'message' || !message || !['user', 'assistant', 'toolResult'].includes(message.role))
      return [];
    if (typeof message.content === 'string') return [message.content];
    return message.content.flatMap(({ type: block, text, arguments: args }) =>
      block === 'text' ? [text ?? ''] : block === 'toolCall' ? [JSON.stringify(args)] : [],
    );
  });
}

describe('strata import', function () {
  this.timeout(60_000);
  const folder = useScratch();

  it('stores every message of a session file in a private archive', async () => {
    const root = path.join(folder(), 'root');
    const { dir, added: _added, ...rest } = await answer<Imported>(['import', OWN, '--root', root]);
    assert.deepEqual(rest, { messages: 15, empty: 1, records: 18, skipped: 0, branches: 2, problems: [] });
    assert.equal(path.dirname(dir), path.join(root, 'sessions'));
    assert.equal(fs.statSync(dir).mode & 0o777, 0o700);
    assert.equal(fs.statSync(path.join(dir, 'journal-1.jsonl')).mode & 0o777, 0o600);
    const config = JSON.parse(fs.readFileSync(path.join(dir, 'config.json'), 'utf8')) as Record<
      string,
      unknown
    >;
    assert.equal(config['sessionId'], 'harbour-lights');
    assert.equal(config['cwd'], '/home/keeper/harbour');
    assert.equal(config['sessionFile'], fs.realpathSync(OWN));
    assert.match((await strata(['verify', dir])).out, /No damage/);
  });

  it('adds nothing the second time, and says so', async () => {
    const args = ['import', OWN, '--root', folder()];
    const first = await answer<Imported>(args);
    const journal = path.join(first.dir, 'journal-1.jsonl');
    const bytes = fs.readFileSync(journal);
    const again = await strata(args);
    assert.equal(again.code, 0, again.err);
    assert.match(again.out, /Nothing new/);
    assert.deepEqual(fs.readFileSync(journal), bytes);
    assert.deepEqual(await answer<Imported>(args), { ...first, added: 0 });
  });

  it('puts archives beside Pi, wherever Pi is told to be', async () => {
    const { dir } = await answer<Imported>(['import', OWN], { PI_CODING_AGENT_DIR: folder() });
    assert.equal(path.dirname(dir), path.join(folder(), 'strata', 'sessions'));
  });

  it('writes nothing into an archive that another process owns, and names that process', async () => {
    const sessionId = 'harbour-lights' as SessionId;
    const opened = await openArchiveFolder(folder(), { sessionId, cwd: '/home/keeper/harbour' });
    assert.equal(opened.state, 'opened');
    if (opened.state !== 'opened') return;
    try {
      const before = folderState(opened.dir);
      const { code, out, err } = await strata(['import', OWN, '--root', folder()]);
      assert.equal(code, 1);
      assert.equal(out, '');
      assert.match(err, new RegExp(`in use by process ${process.pid}\\..*try again`));
      assert.deepEqual(folderState(opened.dir), before);
    } finally {
      await opened.close();
    }
  });

  it('tells every line it could not read', async () => {
    const lines = fs.readFileSync(OWN, 'utf8').split('\n');
    lines[7] = '{"type":"mess';
    const broken = path.join(folder(), 'broken.jsonl');
    fs.writeFileSync(broken, lines.join('\n').trimEnd().slice(0, -5));
    const { code, out } = await strata(['import', broken, '--root', path.join(folder(), 'root')]);
    assert.equal(code, 0);
    assert.match(out, /2 lines skipped/);
    assert.match(out, /line 8: This line holds no entry/);
    assert.match(out, /line 9: .*"a0000007".* is not in the file/);
    assert.match(out, /line 21: The last line was never finished/);
    assert.doesNotMatch(out, /lantern/, 'problems quote nothing of the conversation');
  });

  it('refuses what is no session file', async () => {
    const plain = path.join(folder(), 'plain.txt');
    fs.writeFileSync(plain, 'hello\n');
    const root = path.join(folder(), 'root');
    for (const [file, says] of [
      [plain, /no Pi session file/],
      [path.join(folder(), 'missing.jsonl'), /There is no file/],
      [folder(), /is a folder/],
    ] as const) {
      const { code, out, err } = await strata(['import', file, '--root', root]);
      assert.equal(code, 1);
      assert.equal(out, '');
      assert.match(err, says);
      assert.equal(err.trim().split('\n').length, 1);
    }
    assert.ok(!fs.existsSync(root), 'nothing was made for them');
  });

  // The real one is not part of the repository.
  for (const name of fs.existsSync(REAL) ? [OWN, REAL] : [OWN])
    it(`gives ${path.basename(name)} back byte for byte`, async () => {
      const imported = await answer<Imported>(['import', name, '--root', folder()]);
      if (name === REAL)
        assert.deepEqual(
          [imported.messages, imported.records, imported.skipped, imported.branches],
          [990, 1213, 0, 1],
        );
      const texts = textsOf(name);
      if (name === REAL) {
        let at = 0;
        for (const text of plainTexts(name)) {
          while (at < texts.length && !texts[at]?.includes(text)) at++;
          assert.ok(at < texts.length, `no record has ${text.slice(0, 80)}`);
        }
      }
      const readable = await readArchiveFolder(imported.dir);
      assert.equal(readable.state, 'readable');
      if (readable.state !== 'readable') return;
      const follower = new ArchiveFollower(readable.source);
      await follower.refresh();
      const branch = follower.state.branch(follower.state.newest);
      assert.equal(branch?.records, texts.length);
      for (const [start, text] of texts.entries()) {
        let joined = '';
        for (let offset: number | null = 0; offset !== null;) {
          const page = await zoom(branch, { start, count: 1, offset });
          assert.ok('next' in page);
          joined += page.text;
          offset = page.next;
        }
        assert.equal(joined, text, `record ${start}`);
      }
      // The same by the command itself for the longest record, page by page.
      const longest = texts.reduce((at, text, i) => (text.length > (texts[at]?.length ?? 0) ? i : at), 0);
      let joined = '';
      for (let offset: number | null = 0; offset !== null;) {
        const page: { text: string; next: number | null } = await answer([
          'zoom',
          imported.dir,
          String(longest),
          '1',
          '--offset',
          String(offset),
        ]);
        joined += page.text;
        offset = page.next;
      }
      assert.equal(joined, texts[longest]);
    });
});
