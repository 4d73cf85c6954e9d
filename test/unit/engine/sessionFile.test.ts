import assert from 'node:assert/strict';
import fs from 'node:fs';
import { sourcesOf } from '../../../extension/archive/ancestry';
import { importSession } from '../../../extension/archive/importSession';
import { recordsOf } from '../../../extension/archive/normalise';
import { rawText } from '../../../extension/archive/record';
import {
  linesOf,
  parseSessionFile,
  pathTo,
  type SessionFile,
  type SessionNode,
} from '../../../extension/archive/sessionFile';
import { openArchive } from './conversation';
import { FaultyJournal } from './faultyJournal';

const FOLDER = 'test/fixtures/sessions';
const linesIn = (name: string) => [...linesOf(fs.readFileSync(`${FOLDER}/${name}`))];

function parse(lines: Iterable<string>): SessionFile {
  const file = parseSessionFile(lines);
  assert.ok(file);
  return file;
}
/** The raw texts of a branch's records, as the file has them. */
function texts(leaf: SessionNode | undefined): string[] {
  assert.ok(leaf);
  return sourcesOf(pathTo(leaf)).flatMap(({ message }) => recordsOf(message).map(rawText));
}
const kinds = (file: SessionFile) => file.problems.map(({ line, kind }) => `${line} ${kind}`);

describe('a session file of format 3', () => {
  const file = parse(linesIn('harbour-v3.jsonl'));

  it('gives its header and its branches', () => {
    assert.deepEqual(file.header, {
      id: 'harbour-lights',
      version: 3,
      cwd: '/home/keeper/harbour',
      timestamp: Date.UTC(2026, 2, 2, 9),
      parentSession: '/home/keeper/.pi/agent/sessions/earlier.jsonl',
    });
    assert.deepEqual(
      file.leaves.map(leaf => leaf.entry.id),
      ['a000000e', 'b0000006'],
    );
    assert.equal(file.skipped, 0);
    assert.deepEqual(file.problems, []);
  });

  it('gives each branch the records of its own ancestry, after its own edits, without thinking', () => {
    const [counted, south] = file.leaves.map(texts);
    assert.ok(counted && south);
    assert.deepEqual(counted.slice(0, 2), south.slice(0, 2));
    assert.ok(counted.includes('echo: bash [error]: (left out: permission denied)'));
    assert.ok(south.includes('echo: bash [error]: ls: permission denied'), 'the edit is on the other branch');
    assert.ok(south.includes('note: Storm warning for the south pier.'));
    assert.ok(south.some(text => text.startsWith('note: ') && text.includes('119 lanterns were counted')));
    assert.ok(south.includes('echo: Ran `date`\n```\nMon Mar 2\n```'));
    assert.ok(counted.includes('user: Here is a picture of the pier.\n[image]'));
    assert.doesNotMatch([...counted, ...south].join(), /must not say|You are helpful/);
  });
});

describe('session files of older formats', () => {
  it('format 1 is one line of entries whose ids are the numbers of their lines', () => {
    const file = parse(linesIn('kitchen-v1.jsonl'));
    assert.equal(file.header.version, 1);
    assert.equal(file.header.parentSession, '/home/cook/older.jsonl');
    assert.equal(file.leaves.length, 1);
    assert.deepEqual(
      file.nodes.map(node => node.entry.id),
      [2, 3, 4, 5, 6, 7, 8].map(n => `line-${n}`),
    );
    assert.deepEqual(texts(file.leaves[0]), [
      'user: How long do lentils take?',
      'talk: About twenty minutes.',
      'tool: bash {"command":"timer 20m"}',
      'echo: bash: timer set',
      'user: And chickpeas?',
      'talk: An hour, if they were soaked.',
    ]);
  });

  it('format 2 calls an extension message differently and is otherwise the same', () => {
    const file = parse(linesIn('garden-v2.jsonl'));
    assert.deepEqual(file.leaves.map(texts), [
      [
        'user: What grows in the shade?',
        'note: Ferns and hostas grow in the shade.',
        'talk: Ferns and hostas.',
      ],
      ['user: What grows in the shade?', 'talk: Moss, mostly.'],
    ]);
  });
});

describe('a session file that is not as Pi writes it', () => {
  const lines = linesIn('harbour-v3.jsonl');
  const whole = parse(lines);
  const allTexts = new Set(whole.leaves.flatMap(texts));

  it('is none without a header on its first line', () => {
    assert.equal(parseSessionFile([]), undefined);
    assert.equal(parseSessionFile(['', '  ']), undefined);
    assert.equal(parseSessionFile(lines.slice(1)), undefined);
    assert.equal(parseSessionFile(['{"type":"session"}']), undefined);
    assert.equal(parseSessionFile(['not json', ...lines]), undefined);
  });

  it('loses only a torn last line, and says so', () => {
    const last = lines.at(-1) ?? '';
    for (const cut of [1, 20, last.length - 1]) {
      const file = parse([...lines.slice(0, -1), last.slice(0, cut)]);
      assert.equal(file.skipped, 1);
      assert.deepEqual(kinds(file), [`${lines.length} torn`]);
      assert.equal(file.nodes.length, whole.nodes.length - 1);
    }
  });

  it('keeps the entry that Pi wrote behind a torn one on the same line', () => {
    const torn = (lines[13] ?? '').slice(0, 60);
    const file = parse([...lines.slice(0, 13), torn + (lines[15] ?? ''), ...lines.slice(16)]);
    assert.deepEqual(kinds(file), ['14 fused']);
    assert.equal(file.skipped, 1);
    assert.ok(texts(file.leaves.at(-1)).includes('talk: The south pier is closed: storm.'));
  });

  it('does not take the end of a torn entry for an entry', () => {
    const nested =
      '{"type":"message","id":"x","parentId":null,"message":{"content":[{"type":"toolCall","id":"c","name":"n"}';
    const file = parse([...lines.slice(0, 3), nested]);
    assert.deepEqual(kinds(file), ['4 torn']);
    assert.equal(file.nodes.length, 2);
  });

  it('keeps what is cut off from the root as a branch of its own', () => {
    const file = parse([...lines.slice(0, 7), '{"type":"mess', ...lines.slice(8)]);
    assert.deepEqual(kinds(file), ['8 unreadable', '9 cut']);
    const kept = new Set(file.leaves.flatMap(texts));
    const gone = [...allTexts].filter(text => !kept.has(text));
    // The lost line held no visible text. The edit that is cut off with it no longer reaches its target.
    assert.deepEqual(gone, ['echo: bash [error]: (left out: permission denied)']);
    assert.ok(kept.has('echo: bash [error]: ls: permission denied'));
    assert.equal(file.leaves.length, 3);
  });

  it('never loses a message without a word, whichever line is damaged', () => {
    for (let i = 1; i < lines.length; i++) {
      const file = parse(lines.map((line, at) => (at === i ? line.slice(0, line.length / 2) : line)));
      const own = whole.nodes.find(node => node.line === i + 1);
      assert.ok(own);
      const kept = new Set(file.nodes.map(node => node.entry.id));
      assert.equal(file.nodes.length, whole.nodes.length - 1);
      assert.ok(!kept.has(own.entry.id));
      assert.equal(file.skipped, 1);
      assert.ok(file.problems.some(({ line }) => line === i + 1));
    }
  });

  it('names unknown roles, a missing message and a newer format', () => {
    const file = parse([
      '{"type":"session","version":9,"id":"later","timestamp":"x","cwd":"/x"}',
      '{"type":"message","id":"1","parentId":null,"timestamp":"x","message":{"role":"oracle","content":"?"}}',
      '{"type":"message","id":"2","parentId":"1","timestamp":"x"}',
      '{"type":"message","id":"3","parentId":"2","timestamp":"x","message":{"role":"user","content":"still read"}}',
      '42',
    ]);
    assert.deepEqual(kinds(file), ['1 newer-format', '2 unknown-message', '3 unreadable', '5 unreadable']);
    assert.deepEqual(texts(file.leaves[0]), ['user: still read']);
  });

  it('has no loops, even when it says so', () => {
    const file = parse([
      '{"type":"session","version":3,"id":"loop","timestamp":"x","cwd":"/x"}',
      '{"type":"message","id":"1","parentId":"2","timestamp":"x","message":{"role":"user","content":"a"}}',
      '{"type":"message","id":"2","parentId":"1","timestamp":"x","message":{"role":"user","content":"b"}}',
      '{"type":"message","id":"1","parentId":"2","timestamp":"x","message":{"role":"user","content":"c"}}',
      '{"type":"message","id":"3","parentId":"1","timestamp":"x","message":{"role":"user","content":"d"}}',
    ]);
    assert.deepEqual(kinds(file), ['2 cut']);
    assert.deepEqual(texts(file.leaves[0]), ['user: a', 'user: b', 'user: c', 'user: d']);
  });

  it('is framed by line feeds alone', () => {
    const odd = 'a\u2028b\u2029c\u0085d\r';
    const entry = {
      type: 'message',
      id: '1',
      parentId: null,
      timestamp: 'x',
      message: { role: 'user', content: odd },
    };
    const bytes = Buffer.from(`${lines[0]}\r\n${JSON.stringify(entry)}`);
    assert.deepEqual(texts(parse(linesOf(bytes)).leaves[0]), [`user: ${odd}`]);
  });
});

describe('importing a session file', () => {
  it('stores every branch, shares what they share, and adds nothing the second time', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    const file = parse(linesIn('harbour-v3.jsonl'));
    const result = await importSession(archive, file);
    assert.deepEqual(result, { messages: 15, empty: 1, records: 18, branches: 2, skipped: 0, added: 16 });
    const tips = archive.state.tips();
    for (const leaf of file.leaves) {
      const expected = texts(leaf);
      const tip = tips.find(each => archive.branch(each.chain).records === expected.length);
      assert.ok(tip);
      const branch = archive.branch(tip.chain);
      for (const [i, text] of expected.entries()) assert.equal(await branch.raw(i), text);
    }
    assert.equal(
      archive.branch().records,
      texts(file.leaves[1]).length,
      'the live branch is the current one',
    );
    const lines = journal.lines.length;
    assert.equal((await importSession(archive, file)).added, 0);
    assert.equal(journal.lines.length, lines);
  });

  it('gives a copy in another format the same chain: ids and times are no identity', async () => {
    const archive = await openArchive();
    await importSession(archive, parse(linesIn('kitchen-v1.jsonl')));
    const upgraded = linesIn('kitchen-v1.jsonl').map((line, i) =>
      JSON.stringify({
        ...(JSON.parse(line) as object),
        ...(i === 0 ? { version: 3 } : { id: `n${i}`, parentId: i === 1 ? null : `n${i - 1}` }),
      }),
    );
    assert.equal((await importSession(archive, parse(upgraded))).added, 0);
  });

  it('takes only what is new when the session has grown', async () => {
    const archive = await openArchive();
    const lines = linesIn('harbour-v3.jsonl');
    await importSession(archive, parse(lines.slice(0, 9)));
    const before = archive.state.sources;
    const { added } = await importSession(archive, parse(lines));
    assert.ok(before > 0 && added > 0);
    const fresh = await openArchive();
    await importSession(fresh, parse(lines));
    // An edit of earlier history makes that branch another one from there on.
    assert.ok(archive.state.sources >= fresh.state.sources);
    assert.equal(archive.chain, fresh.chain);
  });
});
