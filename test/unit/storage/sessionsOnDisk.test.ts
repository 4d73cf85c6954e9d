import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { listSessions, type SessionOnDisk } from '../../../extension/storage/sessionsOnDisk';
import { useScratch } from './scratch';

describe("Pi's session files", () => {
  const scratch = useScratch();
  const agentDir = () => path.join(scratch(), 'agent');
  const sessions = () => path.join(agentDir(), 'sessions');

  function project(name: string): string {
    const dir = path.join(scratch(), name);
    mkdirSync(dir, { recursive: true });
    return dir;
  }
  const piName = (cwd: string) => `--${cwd.slice(1).replaceAll('/', '-')}--`;

  function session(
    folder: string,
    id: string,
    cwd: string,
    entries: readonly object[] = [],
    header = {},
  ): string {
    mkdirSync(folder, { recursive: true });
    const file = path.join(folder, `${id}.jsonl`);
    const first = { type: 'session', version: 3, id, timestamp: '2026-01-01T00:00:00.000Z', cwd, ...header };
    writeFileSync(file, [first, ...entries].map(e => `${JSON.stringify(e)}\n`).join(''));
    return file;
  }
  const prompt = (text: string, at: string) => ({
    type: 'message',
    id: 'a',
    timestamp: at,
    message: { role: 'user', content: [{ type: 'text', text }] },
  });
  const list = (...folders: string[]) => listSessions({ agentDir: agentDir(), folders });
  const ids = (found: readonly SessionOnDisk[]) => found.map(s => (s.state === 'ok' ? s.sessionId : s.state));

  it('belong to the folder their header names, not to the folder they lie in', async () => {
    const a = project('x/y-z');
    const b = project('x-y/z');
    assert.equal(piName(a), piName(b));
    session(path.join(sessions(), piName(a)), 'of-a', a);
    session(path.join(sessions(), piName(b)), 'of-b', b);
    session(path.join(sessions(), '--elsewhere--'), 'moved', a);
    assert.deepEqual(ids(await list(a)).sort(), ['moved', 'of-a']);
    assert.deepEqual(ids(await list(b)), ['of-b']);
  });

  it('are found through links, in folders below, and never in a sibling with a longer name', async () => {
    const a = project('work/a');
    const inside = project('work/a/b');
    session(path.join(sessions(), piName(inside)), 'inside', inside);
    session(path.join(sessions(), 'sibling'), 'sibling', project('work/ab'));
    symlinkSync(a, path.join(scratch(), 'link'));
    session(path.join(sessions(), 'link'), 'linked', path.join(scratch(), 'link'));
    assert.deepEqual(ids(await list(a)).sort(), ['inside', 'linked']);
  });

  it('are found flat in a session folder of its own', async () => {
    const a = project('a');
    const flat = path.join(scratch(), 'flat');
    session(flat, 'flat', a);
    session(path.join(flat, 'deeper'), 'deeper', a);
    const found = await listSessions({ agentDir: agentDir(), sessionDirs: [flat], folders: [a] });
    assert.deepEqual(ids(found).sort(), ['deeper', 'flat']);
  });

  it('show name, first prompt, parent and last activity, from both ends of a large file', async () => {
    const a = project('a');
    const filler = Array.from({ length: 3000 }, (_, n) =>
      prompt(`filler ${n} ${'x'.repeat(200)}`, '2026-01-02T00:00:00Z'),
    );
    session(
      path.join(sessions(), 's'),
      'big',
      a,
      [
        prompt('the first prompt', '2026-01-01T00:00:01Z'),
        ...filler,
        { type: 'session_info', name: 'my name', timestamp: '2026-01-03T00:00:00Z' },
        { type: 'usage', timestamp: '2026-01-04T00:00:00.000Z' },
      ],
      { parentSession: '/p.jsonl' },
    );
    const [found] = await list(a);
    assert.ok(found?.state === 'ok');
    assert.ok(found.bytes > 600_000);
    assert.equal(found.name, 'my name');
    assert.equal(found.firstPrompt, 'the first prompt');
    assert.equal(found.parentSession, '/p.jsonl');
    assert.equal(found.format, 3);
    assert.equal(found.created, Date.parse('2026-01-01T00:00:00.000Z'));
    assert.equal(found.lastActivity, Date.parse('2026-01-04T00:00:00.000Z'));
  });

  it('without a usable header are listed as damaged where they lie, and break nothing', async () => {
    const a = project('a');
    const folder = path.join(sessions(), piName(a));
    session(folder, 'good', a, [prompt('hi', '2026-01-01T00:00:01Z')]);
    for (const [name, text] of [
      ['empty', ''],
      ['torn', '{"type":"session","id":"x'],
      ['no-header', '{"type":"message"}\n'],
      ['no-cwd', '{"type":"session","id":"x"}\n'],
      ['binary', '\u0000'.repeat(100_000)],
    ] as const)
      writeFileSync(path.join(folder, `${name}.jsonl`), text);
    writeFileSync(path.join(sessions(), 'other.txt'), 'no session');
    mkdirSync(path.join(sessions(), '--other--'));
    writeFileSync(path.join(sessions(), '--other--', 'bad.jsonl'), 'of another folder');
    const found = await list(a);
    assert.deepEqual(ids(found).sort(), ['damaged', 'damaged', 'damaged', 'damaged', 'damaged', 'good']);
    for (const s of found) if (s.state === 'damaged') assert.ok(s.reason.endsWith('.'), s.reason);
    assert.deepEqual(await listSessions({ agentDir: '/nowhere', folders: [a] }), []);
  });

  it('come newest activity first, whatever their last lines are', async () => {
    const a = project('a');
    const folder = path.join(sessions(), 's');
    session(folder, 'old', a, [prompt('x', '2026-01-01T00:00:01Z')]);
    session(folder, 'new', a, [prompt('x', '2026-02-01T00:00:01Z')]);
    const torn = session(folder, 'torn', a, [prompt('x', '2026-03-01T00:00:01Z')]);
    writeFileSync(torn, '{"type":"message","time', { flag: 'a' });
    const bare = session(folder, 'bare', a);
    utimesSync(bare, 1, 1);
    assert.deepEqual(ids(await list(a)), ['torn', 'new', 'old', 'bare']);
  });
});
