import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { ArchiveFollower } from '../../extension/archive/follower';
import { readArchiveFolder } from '../../extension/storage/archiveFolder';
import { assertNoErrors, onlyArchive, ownerOf } from '../support/owner';
import { Sandbox, viewOf } from '../support/pi';
import { reasonIn } from '../support/piRpc';

describe('who owns a session', () => {
  let box: Sandbox;
  beforeEach(async () => {
    box = await Sandbox.make();
  });
  afterEach(async () => {
    await box.close();
  });

  const folder = (name: string) => {
    const dir = path.join(box.project, name);
    mkdirSync(dir, { recursive: true });
    return dir;
  };
  const file = () => box.sessionFiles.at(-1) ?? assert.fail();

  it('is the window with the innermost folder, also among the folders of one window', async () => {
    const [inner, other] = [folder('inner'), folder('other')];
    const deep = folder('inner/deep');
    const most = await box.host('on', inner);
    const outer = await box.host('on', other, box.project);
    for (const [cwd, owner] of [
      [deep, most],
      [inner, most],
      [other, outer],
      [box.project, outer],
    ] as const) {
      const known = new Set(box.archives);
      const pi = box.rpcIn(cwd);
      await pi.prompt('hello ;; !say hi');
      const made = box.archives.filter(archive => !known.has(archive));
      assert.equal(made.length, 1);
      assert.equal(ownerOf(made[0] ?? assert.fail()), owner.pid, cwd);
      await pi.close();
    }
  });

  it('is Pi when the window has another folder open, beside its own or below it', async () => {
    await box.host('on', folder('inner'));
    const pi = box.rpc();
    await pi.prompt('hello ;; !say hi');
    assert.equal(ownerOf(onlyArchive(box)), pi.pid);
    await pi.close();
  });

  it('is the window that starts after a terminal of VS Code was brought back, and Pi when a prompt comes first', async () => {
    box.moreEnv = { TERM_PROGRAM: 'vscode' };
    const early = box.rpc();
    await early.prompt('first ;; !say one');
    assert.equal(ownerOf(onlyArchive(box)), early.pid);
    await early.close();
    const pi = box.rpc('--session', file());
    await pi.until('nobody', event => /not available/.test(String(event['statusText'])), 10_000);
    assert.equal(ownerOf(onlyArchive(box)), undefined);
    const host = await box.host();
    await pi.until('the window', event => /memory: on, 2/.test(String(event['statusText'])), 10_000);
    assert.equal(ownerOf(onlyArchive(box)), host.pid);
    await pi.prompt('second ;; !say two');
    assert.equal(ownerOf(onlyArchive(box)), host.pid);
    assert.match(viewOf(box.turns.at(-1) ?? assert.fail()) ?? '', /one/);
    assertNoErrors(pi);
    await pi.close();
  });

  it('is the holder of the lock, of two windows on one folder, also for another Pi', async () => {
    const first = await box.host();
    const one = box.rpc();
    await one.prompt('first ;; !say one');
    const second = await box.host();
    const two = box.rpc('--session', file());
    await two.prompt('second ;; !say two');
    await one.prompt('third ;; !say three');
    assert.equal(ownerOf(onlyArchive(box)), first.pid);
    await first.stop();
    await two.prompt('fourth ;; !say four');
    await one.prompt('fifth ;; !say five');
    assert.equal(ownerOf(onlyArchive(box)), second.pid);
    assert.match(viewOf(box.turns.at(-1) ?? assert.fail()) ?? '', /one[^]*three/);
    for (const pi of [one, two]) {
      assertNoErrors(pi);
      await pi.close();
    }
  });

  it('stays the Pi that owns it when VS Code opens, which follows its journal and serves the others', async () => {
    const own = box.rpc();
    await own.prompt('first ;; !say one');
    const dir = onlyArchive(box);
    const host = await box.host();
    const read = await readArchiveFolder(dir);
    assert.equal(read.state, 'readable');
    const follower = new ArchiveFollower(read.source);
    await follower.refresh();
    assert.equal(follower.state.branch(follower.state.newest)?.records, 2);

    await own.prompt('second ;; !say two');
    await follower.refresh();
    assert.equal(follower.state.branch(follower.state.newest)?.records, 4);
    assert.equal(follower.state.turns.length, 2);
    assert.equal(ownerOf(dir), own.pid, 'what Pi owns stays Pi’s');

    const other = box.rpc();
    await other.prompt('another session ;; !say hello');
    const theirs = box.archives.find(archive => archive !== dir) ?? assert.fail();
    assert.equal(ownerOf(theirs), host.pid);
    // The session of the first ends, and the window has it from then on.
    const { data } = await own.send('get_state');
    await own.close();
    const again = box.rpc('--session', (data as { sessionFile: string }).sessionFile);
    await again.prompt('third ;; !say three');
    assert.equal(ownerOf(dir), host.pid);
    assert.match(viewOf(box.turns.at(-1) ?? assert.fail()) ?? '', /one[^]*two/);
    for (const pi of [other, again]) await pi.close();
  });

  it('is nobody while a holder that lives does not answer: an error after 5 s with the ways on, never a takeover', async () => {
    const host = await box.host();
    const first = box.rpc();
    await first.prompt('first ;; !say one');
    await host.freeze();
    const asked = Date.now();
    const second = box.rpc('--session', file());
    const refused = reasonIn(await second.prompt('second ;; !say no'));
    assert.ok(Date.now() - asked < 16_000, `${Date.now() - asked} ms`);
    assert.match(
      refused,
      new RegExp(
        `Process ${host.pid} owns the archive of this session and does not answer\\..*Reload its window\\..*/strata off`,
      ),
    );
    assert.equal(box.turns.length, 1);
    // Another window of the folder takes nothing over either.
    await box.host();
    assert.match(reasonIn(await second.prompt('again ;; !say no')), new RegExp(`Process ${host.pid} owns`));
    assert.equal(ownerOf(onlyArchive(box)), host.pid);
    assert.equal(box.turns.length, 1);
    host.thaw();
    await second.prompt('thawed ;; !say served');
    assert.equal(ownerOf(onlyArchive(box)), host.pid);
    assert.match(viewOf(box.turns.at(-1) ?? assert.fail()) ?? '', /one[^]*again/);
    for (const pi of [first, second]) await pi.close();
  });

  it('is Pi when its window is frozen but holds nothing of this session', async () => {
    const host = await box.host();
    await host.freeze();
    const pi = box.rpc();
    await pi.prompt('first ;; !say one');
    assert.equal(ownerOf(onlyArchive(box)), pi.pid);
    assert.equal(box.turns.length, 1);
    await pi.close();
  });

  it('is the next Pi after one that was killed, and what it had stored is remembered', async () => {
    const first = box.rpc();
    await first.prompt('first ;; !say one');
    assert.ok(first.isRunning);
    process.kill(first.pid, 'SIGKILL');
    await first.exited;
    assert.equal(ownerOf(onlyArchive(box)), first.pid, 'its word stays, its lock does not');
    const second = box.rpc('-c');
    await second.prompt('second ;; !say two');
    assert.equal(ownerOf(onlyArchive(box)), second.pid);
    assert.match(viewOf(box.turns.at(-1) ?? assert.fail()) ?? '', /first[^]*one/);
    await second.close();
  });
});
