import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { Archive } from '../../../extension/archive/archive';
import { sha256Hex } from '../../../extension/archive/canonical';
import type { SessionId } from '../../../extension/archive/ids';
import type { FrozenView } from '../../../extension/archive/requests';
import { openArchiveFolder } from '../../../extension/storage/archiveFolder';
import { encodeFrame } from '../../../extension/storage/frame';
import { bind, longConversation, prepare, SILENT } from '../engine/conversation';
import { FakeCompactor } from '../engine/fakeCompactor';
import { useScratch } from '../storage/scratch';
import { folderState } from './folderState';
import { answer, strata } from './strata';

interface Made {
  readonly dir: string;
  readonly journal: string;
  readonly views: readonly FrozenView[];
  readonly left: string;
  readonly right: string;
  close(): Promise<void>;
}

/** An archive of two turns on two branches, on a real disk, still owned by this process until `close`. */
async function makeArchive(root: string): Promise<Made> {
  const opened = await openArchiveFolder(root, { sessionId: 's-1' as SessionId, cwd: '/home/x' });
  assert.equal(opened.state, 'opened');
  if (opened.state !== 'opened') throw new Error('not opened');
  const archive = await Archive.open({
    journal: opened.journal,
    blobs: opened.blobs,
    clock: { now: () => Date.now() },
    log: SILENT,
  });
  const left = await bind(archive, longConversation(30));
  const views = [await prepare(archive, 'marker-1', left, new FakeCompactor())];
  const right = await bind(archive, longConversation(4, 'other '));
  views.push(await prepare(archive, 'marker-2', right, new FakeCompactor()));
  await archive.close();
  const journal = path.join(opened.dir, 'journal-1.jsonl');
  return { dir: opened.dir, journal, views, left, right, close: () => opened.close() };
}

describe('reading an archive from the command line', function () {
  this.timeout(60_000);
  const folder = useScratch();
  let made: Made;
  beforeEach(async () => {
    made = await makeArchive(folder());
  });
  afterEach(() => made.close());

  it('needs no lock and writes nothing', async () => {
    const before = folderState(made.dir);
    for (const args of [
      ['status', made.dir],
      ['view', made.dir, '1'],
      ['zoom', made.dir, '0', '4'],
      ['verify', made.dir],
    ]) {
      const { code, err } = await strata(args);
      assert.equal(code, 0, `${args[0]}: ${err}`);
    }
    assert.deepEqual(folderState(made.dir), before);
  });

  it('rebuilds the view of a turn, by number or by marker, exactly as it was sent', async () => {
    for (const [i, view] of made.views.entries()) {
      const text = view.blocks.join('');
      for (const name of [String(i + 1), `marker-${i + 1}`]) {
        const { code, out } = await strata(['view', made.dir, name]);
        assert.equal(code, 0);
        assert.equal(out, text);
        assert.equal(sha256Hex(out), view.sha256);
      }
    }
    const json = await answer<Record<string, unknown>>(['view', made.dir, '2']);
    assert.equal(json['id'], 'marker-2');
    assert.equal(json['verified'], true);
    assert.equal(json['text'], made.views[1]?.blocks.join(''));
  });

  it('opens lines and originals of the branch that is named', async () => {
    const halves = await strata(['zoom', made.dir, '0', '2']);
    assert.equal(halves.out.split('\n')[0], '0+1|user: other please do step 0');
    const old = await strata(['zoom', made.dir, '0', '1', '--branch', made.left.slice(0, 8)]);
    assert.equal(old.out, 'user: please do step 0');
    const json = await answer<Record<string, unknown>>(['zoom', made.dir, '0', '1', '--branch', made.left]);
    assert.equal(json['branch'], made.left);
    assert.equal(json['piEntryId'], 'e0');
  });

  it('tells what an archive holds', async () => {
    const status = await answer<{
      records: number;
      branches: object[];
      turns: { id: string }[];
      missing: number;
    }>(['status', made.dir]);
    assert.equal(status.records, 16);
    assert.equal(status.missing, 0);
    assert.equal(status.branches.length, 2);
    assert.deepEqual(
      status.turns.map(turn => turn.id),
      ['marker-1', 'marker-2'],
    );
    const { out } = await strata(['status', made.dir]);
    assert.match(out, /16 records, 16 summarised/);
    assert.match(out, new RegExp(`branch ${made.left}: 120 records`));
  });

  it('finds a changed byte wherever it is, names file and place, and changes nothing', async () => {
    const bytes = fs.readFileSync(made.journal);
    const lines = bytes.toString('latin1').split('\n').length - 1;
    assert.ok(lines > 10);
    for (const part of [0.1, 0.5, 0.9]) {
      const at = Math.floor(bytes.length * part);
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] as number) ^ 0x01;
      fs.writeFileSync(made.journal, flipped);
      const { code, out } = await strata(['verify', made.dir]);
      assert.equal(code, 1, `byte ${at}`);
      const named = new RegExp(`${made.journal}, byte (\\d+): `).exec(out);
      assert.ok(named, out);
      const start = bytes.lastIndexOf(0x0a, at - 1) + 1;
      assert.equal(Number(named[1]), start, 'the line that holds the byte');
      assert.deepEqual(fs.readFileSync(made.journal), flipped);
    }
  });

  it('finds a line that is missing although every other line is whole', async () => {
    const lines = fs.readFileSync(made.journal, 'latin1').split('\n');
    fs.writeFileSync(made.journal, [...lines.slice(0, 3), ...lines.slice(4)].join('\n'), 'latin1');
    const { code, out } = await strata(['verify', made.dir]);
    assert.equal(code, 1);
    assert.match(out, /commit 3 expected, commit 4 found/);
    const view = await strata(['view', made.dir, '1']);
    assert.equal(view.code, 1);
    assert.match(view.err, /is damaged at byte \d+/);
  });

  it('says when a view is not the one that was sent, although every line is whole', async () => {
    const lines = fs.readFileSync(made.journal, 'utf8').trimEnd().split('\n');
    const frames = lines.map(line => {
      const json = line
        .slice(line.indexOf('{'))
        .replace(/("turn":"marker-2".*"sha256":")[0-9a-f]{8}/, '$1deadbeef');
      return encodeFrame(json);
    });
    fs.writeFileSync(made.journal, Buffer.concat(frames));
    const wrong = await strata(['view', made.dir, '2']);
    assert.equal(wrong.code, 1);
    assert.equal(wrong.out, made.views[1]?.blocks.join(''), 'it still shows what the archive holds');
    assert.match(wrong.err, /not what was sent on turn 2/);
    assert.equal((await strata(['view', made.dir, '1'])).code, 0);
    const verified = await strata(['verify', made.dir]);
    assert.equal(verified.code, 1);
    assert.match(verified.out, /frozen view of turn 2 \(marker-2\)/);
  });

  it('takes an unfinished last line for what it is: never acknowledged, no damage', async () => {
    fs.appendFileSync(made.journal, '0000');
    const { code, out } = await strata(['verify', made.dir]);
    assert.equal(code, 0, out);
    assert.match(out, /last 4 bytes .* not finished/);
  });

  it('says in one sentence what is wrong with the command line', async () => {
    const cases: readonly (readonly [readonly string[], RegExp, number])[] = [
      [['bogus'], /no command "bogus"/, 2],
      [['view', made.dir], /TURN is missing/, 2],
      [['view', made.dir, '9'], /no turn "9": give a number from 1 to 2/, 1],
      [['view', made.dir, '-1'], /-1/, 2],
      [['view', path.join(made.dir, 'nowhere'), '1'], /There is no folder/, 1],
      [['view', made.journal, '1'], /is not a folder/, 1],
      [['status', folder()], /is not an archive/, 1],
      [['status', made.dir, '--wat'], /Unknown option '--wat'/, 2],
      [['status', made.dir, 'more'], /one argument too many/, 2],
      [['zoom', made.dir, 'x', '1'], /START must be a whole number/, 2],
      [['zoom', made.dir, '1', '2'], /is no address/, 1],
      [['zoom', made.dir, '9999', '1'], /There is no record 9999: records go from 0 to 15/, 1],
      [['zoom', made.dir, '0', '1', '--offset', '99999'], /no offset of this record/, 1],
      [['zoom', made.dir, '0', '1', '--branch', 'beef'], /no branch "beef"/, 1],
    ];
    for (const [args, says, code] of cases) {
      const ran = await strata(args);
      assert.equal(ran.code, code, `${args.join(' ')}: ${ran.err}`);
      assert.match(ran.err, says);
      assert.equal(ran.out, '');
      assert.equal(ran.err.trim().split('\n').length, 1, ran.err);
    }
  });

  it('explains itself', async () => {
    const all = await strata(['--help']);
    assert.equal(all.code, 0);
    for (const name of ['import', 'status', 'view', 'zoom', 'verify']) {
      assert.match(all.out, new RegExp(`strata ${name} `));
      const one = await strata([name, '--help']);
      assert.equal(one.code, 0);
      assert.match(one.out, new RegExp(`^Usage: strata ${name} `));
    }
    assert.equal((await strata([])).code, 2);
  });
});
