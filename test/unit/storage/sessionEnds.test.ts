import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describeSession, listSessions } from '../../../extension/storage/sessionsOnDisk';
import { useScratch } from './scratch';

const KiB = 1024;
const CREATED = '2026-01-01T00:00:00.000Z';

describe('A row of the Sessions view', function () {
  this.timeout(30_000);
  const scratch = useScratch();
  const file = (name = 's.jsonl') => path.join(scratch(), name);
  const lines = (...entries: readonly (object | string)[]) =>
    entries.map(e => `${typeof e === 'string' ? e : JSON.stringify(e)}\n`).join('');
  const header = (over: object = {}) => ({
    type: 'session',
    version: 3,
    id: 'id',
    timestamp: CREATED,
    cwd: scratch(),
    ...over,
  });
  const user = (text: string, timestamp = '2026-01-02T00:00:00.000Z') => ({
    type: 'message',
    id: 'e',
    timestamp,
    message: { role: 'user', content: text },
  });
  const named = (name: string) => ({ type: 'session_info', id: 'n', timestamp: CREATED, name });

  async function row(text: string) {
    writeFileSync(file(), text);
    utimesSync(file(), 1_000, 1_000);
    const found = await describeSession(file());
    assert.equal(found?.state, 'ok');
    return found;
  }

  it('reads formats 1 and 2', async () => {
    // Format 1 has no version, no ids, and text for content.
    const first = await row(
      lines(
        { type: 'session', id: 'one', timestamp: CREATED, cwd: scratch(), provider: 'p', modelId: 'm' },
        {
          type: 'message',
          timestamp: '2026-01-05T00:00:00.000Z',
          message: { role: 'user', content: 'from 1' },
        },
      ),
    );
    assert.deepEqual(
      [first.format, first.sessionId, first.firstPrompt, first.lastActivity],
      [1, 'one', 'from 1', Date.parse('2026-01-05T00:00:00.000Z')],
    );
    const second = await row(lines(header({ version: 2 }), user('from 2'), named('two')));
    assert.deepEqual([second.format, second.firstPrompt, second.name], [2, 'from 2', 'two']);
  });

  it('has the time of the file when the last line is longer than what is read of it', async () => {
    const long = await row(lines(header(), named('kept'), user('first'), user('x'.repeat(300 * KiB))));
    assert.equal(long.lastActivity, 1_000_000);
    assert.equal(long.name, 'kept');
    assert.equal(long.firstPrompt, 'first');
    // One byte decides whether the line is whole in it.
    const last = JSON.stringify(user('', '2026-03-01T00:00:00.000Z'));
    const filling = (bytes: number) =>
      JSON.stringify(user('y'.repeat(bytes - last.length - 1), '2026-03-01T00:00:00.000Z'));
    const before = user('z'.repeat(100 * KiB));
    const whole = await row(lines(header(), before, filling(64 * KiB)));
    const cut = await row(lines(header(), before, filling(64 * KiB + 1)));
    // The line end before the line has to be seen as well.
    assert.equal(cut.lastActivity, 1_000_000);
    assert.equal(whole.lastActivity, 1_000_000);
    const inside = await row(lines(header(), before, filling(64 * KiB - 1)));
    assert.equal(inside.lastActivity, Date.parse('2026-03-01T00:00:00.000Z'));
  });

  it('passes over a torn last line and lines that are no entry, and takes the last that is one', async () => {
    const good = lines(header(), named('name'), user('hello', '2026-02-01T00:00:00.000Z'));
    for (const tail of [
      '{"type":"message","timest',
      '{"type":"session_info","name":"torn',
      'garbage\n\n\n',
      '\u0000'.repeat(5000),
      '[1]\n"session_info"\nnull\n',
      '\r\n',
    ]) {
      const found = await row(good + tail);
      assert.equal(found.name, 'name', tail.slice(0, 20));
      assert.equal(found.lastActivity, Date.parse('2026-02-01T00:00:00.000Z'));
    }
  });

  it('has the newest name, none after it was taken away, and none that is only spoken of', async () => {
    const talk = user('{"type":"session_info","name":"spoken"}');
    assert.equal((await row(lines(header(), named('old'), named('new'), talk))).name, 'new');
    assert.equal((await row(lines(header(), named('old'), named('')))).name, undefined);
    assert.equal((await row(lines(header(), talk))).name, undefined);
    const far = await row(
      lines(
        header(),
        user('p'),
        named('far'),
        ...Array.from({ length: 3 }, () => user('x'.repeat(40 * KiB))),
      ),
    );
    assert.equal(far.name, 'far');
  });

  it('is that of a header alone, and of a header without its line end', async () => {
    assert.equal((await row(lines(header()))).lastActivity, Date.parse(CREATED));
    assert.equal((await row(JSON.stringify(header()))).sessionId, 'id');
  });

  it('costs no more of a file than its two ends', async () => {
    // 8 GiB of nothing between them: whoever reads it all is still reading.
    writeFileSync(file(), lines(header(), user('begin')));
    truncateSync(file(), 8 * 1024 ** 3);
    appendFileSync(file(), `\n${lines(named('end'), user('last', '2026-05-01T00:00:00.000Z'))}`);
    const found = await describeSession(file());
    assert.ok(found?.state === 'ok');
    assert.deepEqual(
      [found.firstPrompt, found.name, found.lastActivity],
      ['begin', 'end', Date.parse('2026-05-01T00:00:00.000Z')],
    );
  });

  it('is never a surprise, whatever is in the file', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.json(), fc.constant('{"type":"session_info"')), {
          maxLength: 20,
        }),
        async (withHeader, rest) => {
          writeFileSync(file(), lines(...(withHeader ? [header()] : []), ...rest));
          const found = await describeSession(file());
          assert.equal(found?.state, withHeader ? 'ok' : 'damaged');
          if (found?.state === 'damaged') assert.match(found.reason, /^\S.*\.$/);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('is made of files only: a folder, a FIFO or a link that leads nowhere holds up nobody', async () => {
    if (process.platform === 'win32') return;
    const folder = path.join(scratch(), 'agent', 'sessions', 'x');
    mkdirSync(path.join(folder, 'folder.jsonl'), { recursive: true });
    execFileSync('mkfifo', [path.join(folder, 'fifo.jsonl')]);
    symlinkSync('nowhere', path.join(folder, 'dangling.jsonl'));
    writeFileSync(file('elsewhere'), lines(header(), user('through a link')));
    symlinkSync(file('elsewhere'), path.join(folder, 'link.jsonl'));
    const found = await listSessions({ agentDir: path.join(scratch(), 'agent'), folders: [scratch()] });
    assert.deepEqual(
      found.map(one => one.state === 'ok' && one.firstPrompt),
      ['through a link'],
    );
  });
});
