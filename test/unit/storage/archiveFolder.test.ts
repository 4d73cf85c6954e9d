import assert from 'node:assert/strict';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { archiveIdFor } from '../../../extension/archive/canonical';
import type { SessionId } from '../../../extension/archive/ids';
import type { SessionIdentity } from '../../../extension/archive/requests';
import { openArchiveFolder, readArchiveFolder } from '../../../extension/storage/archiveFolder';
import { listArchives } from '../../../extension/storage/archiveList';
import { archiveRoot } from '../../../extension/storage/piFolders';
import { useScratch } from './scratch';

const ME: SessionIdentity = {
  sessionId: 'my session' as SessionId,
  cwd: '/home/me/project',
  sessionFile: '/home/me/s.jsonl',
};
const ID = archiveIdFor(ME.cwd, ME.sessionId);

describe('An archive folder', function () {
  this.timeout(30_000);
  const scratch = useScratch();
  const root = () => path.join(scratch(), 'strata');
  const dir = () => path.join(root(), 'sessions', ID);

  async function make(lines: readonly string[] = ['{"a":1}']): Promise<void> {
    const opened = await openArchiveFolder(root(), ME, '/run/me.json');
    assert.ok(opened.state === 'opened');
    for (const json of lines) await opened.journal.append(json);
    await opened.close();
  }

  async function reasonOf(): Promise<string> {
    const before = snapshot();
    const opened = await openArchiveFolder(root(), ME);
    assert.ok(opened.state === 'refused', opened.state);
    assert.deepEqual(snapshot(), before);
    return opened.reason;
  }

  /** Everything below the archive but for the lock, whose content is nobody's record. */
  function snapshot(): string[] {
    return readdirSync(dir())
      .filter(name => name !== 'lock')
      .map(name => `${name}: ${readFileSync(path.join(dir(), name)).toString('hex')}`);
  }

  it('is found again by its session, with what was stored', async () => {
    await make();
    const again = await openArchiveFolder(root(), ME);
    assert.ok(again.state === 'opened');
    assert.equal(again.dir, dir());
    assert.equal(again.config.sessionId, ME.sessionId);
    assert.equal(again.config.cwd, ME.cwd);
    const lines = [];
    for await (const frames of again.journal.frames()) lines.push(...frames.map(frame => frame.json));
    assert.deepEqual(lines, ['{"a":1}']);
    await again.close();
    assert.deepEqual(readdirSync(dir()).sort(), ['config.json', 'journal-1.jsonl', 'lock']);
  });

  it('belongs to one owner, and others learn who that is', async () => {
    const first = await openArchiveFolder(root(), ME, '/run/me.json');
    assert.ok(first.state === 'opened');
    const second = await openArchiveFolder(root(), ME);
    assert.ok(second.state === 'locked');
    assert.deepEqual([second.by?.pid, second.by?.runFile], [process.pid, '/run/me.json']);
    await first.close();
    const third = await openArchiveFolder(root(), ME);
    assert.ok(third.state === 'opened');
    await third.close();
  });

  it('is two archives for one session id in two projects', async () => {
    await make();
    const other = await openArchiveFolder(root(), { ...ME, cwd: '/home/me/other' });
    assert.ok(other.state === 'opened');
    assert.notEqual(other.dir, dir());
    await other.close();
  });

  it('is refused, and left as it is, when half of it is lost', async () => {
    await make();
    const config = path.join(dir(), 'config.json');
    const journal = path.join(dir(), 'journal-1.jsonl');
    renameSync(config, path.join(scratch(), 'config'));
    assert.match(
      await reasonOf(),
      /config\.json is missing although .*journal-1\.jsonl holds \d+ bytes.*Restore/s,
    );
    renameSync(path.join(scratch(), 'config'), config);
    rmSync(journal);
    assert.match(await reasonOf(), /journal-1\.jsonl is missing.*Restore/s);
  });

  it('goes on when it was made only half before a crash', async () => {
    await make([]);
    rmSync(path.join(dir(), 'config.json'));
    await make();
    assert.equal((await readArchiveFolder(dir())).state, 'readable');
  });

  it('is refused when it is of a newer format, or its configuration is no configuration', async () => {
    await make();
    const config = path.join(dir(), 'config.json');
    const good = JSON.parse(readFileSync(config, 'utf8')) as Record<string, unknown>;
    writeFileSync(config, JSON.stringify({ ...good, format: 2 }));
    assert.match(await reasonOf(), /newer Strata \(format 2.*Update Strata/s);
    for (const bad of ['', '{"format":1', '[]', JSON.stringify({ ...good, generation: 0 })]) {
      writeFileSync(config, bad);
      assert.match(await reasonOf(), /config\.json/);
    }
    writeFileSync(config, JSON.stringify({ ...good, sessionId: 'another' }));
    assert.match(await reasonOf(), /names session another/);
  });

  it('is refused when its configuration, journal, lock or folder is a symbolic link', async () => {
    await make();
    for (const name of ['config.json', 'journal-1.jsonl', 'lock']) {
      const file = path.join(dir(), name);
      renameSync(file, path.join(scratch(), name));
      symlinkSync(path.join(scratch(), name), file);
      assert.match(await reasonOf(), /symbolic link/);
      rmSync(file);
      renameSync(path.join(scratch(), name), file);
    }
    renameSync(dir(), path.join(scratch(), 'moved'));
    symlinkSync(path.join(scratch(), 'moved'), dir());
    assert.match(await reasonOf(), /symbolic link/);
  });

  it('keeps what another version wrote into its configuration, and follows a renamed session file', async () => {
    await make();
    const config = path.join(dir(), 'config.json');
    const good = JSON.parse(readFileSync(config, 'utf8')) as Record<string, unknown>;
    writeFileSync(config, JSON.stringify({ ...good, budgets: { view: 1 } }));
    const opened = await openArchiveFolder(root(), { ...ME, sessionFile: '/new/place.jsonl' });
    assert.ok(opened.state === 'opened');
    await opened.close();
    const now = JSON.parse(readFileSync(config, 'utf8')) as Record<string, unknown>;
    assert.deepEqual(now, { ...good, budgets: { view: 1 }, sessionFile: '/new/place.jsonl' });
  });

  it('can be read while it is owned, and reading writes nothing at all', async () => {
    const opened = await openArchiveFolder(root(), ME);
    assert.ok(opened.state === 'opened');
    await opened.journal.append('{"a":1}');
    const times = () =>
      [dir(), ...readdirSync(dir()).map(n => path.join(dir(), n))].map(f => [
        f,
        statSync(f).mtimeMs,
        statSync(f).ctimeMs,
      ]);
    const before = times();
    const readable = await readArchiveFolder(dir());
    assert.ok(readable.state === 'readable');
    assert.deepEqual(
      (await readable.source.read(0)).frames.map(f => f.json),
      ['{"a":1}'],
    );
    const listed = await listArchives(root());
    assert.deepEqual(times(), before);
    assert.deepEqual(
      listed.map(a => [a.id, a.state, a.state === 'ok' && a.journalBytes]),
      [[ID, 'ok', statSync(path.join(dir(), 'journal-1.jsonl')).size]],
    );
    await opened.close();
  });

  it('is listed as damaged with a reason, and never hides the others', async () => {
    await make();
    const bad = path.join(root(), 'sessions', 'a'.repeat(24));
    mkdirSync(bad);
    writeFileSync(path.join(bad, 'config.json'), 'nonsense');
    mkdirSync(path.join(root(), 'sessions', 'b'.repeat(24)));
    mkdirSync(path.join(root(), 'sessions', 'not an archive'));
    const listed = await listArchives(root());
    assert.deepEqual(listed.map(a => a.state).sort(), ['damaged', 'damaged', 'ok']);
    for (const a of listed) if (a.state === 'damaged') assert.match(a.reason, /config\.json/);
    assert.deepEqual(await listArchives(path.join(scratch(), 'nowhere')), []);
  });

  it('that is no archive is refused to readers', async () => {
    const read = await readArchiveFolder(path.join(scratch(), 'nowhere'));
    assert.ok(read.state === 'refused');
    assert.match(read.reason, /not an archive/);
  });
});

describe('The archive root', () => {
  it("is the setting's, else in Pi's own folder", () => {
    assert.equal(archiveRoot('/x/y', {}), '/x/y');
    assert.equal(archiveRoot('~/y', {}), path.join(homedir(), 'y'));
    assert.equal(archiveRoot(' ', { PI_CODING_AGENT_DIR: '/a' }), '/a/strata');
    assert.equal(archiveRoot(undefined, { PI_CODING_AGENT_DIR: '~/a' }), path.join(homedir(), 'a', 'strata'));
    assert.equal(archiveRoot(undefined, {}), path.join(homedir(), '.pi', 'agent', 'strata'));
  });
});
