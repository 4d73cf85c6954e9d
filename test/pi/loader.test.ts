import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { loaderPath } from '../../extension/storage/piInstall';
import { runFolder } from '../../extension/link/discovery';
import { Door } from '../support/door';
import { Sandbox, outline, viewOf } from '../support/pi';
import type { PiRpc } from '../support/piRpc';
import { snapshot } from '../support/snapshot';

const noticesOf = (pi: PiRpc) =>
  pi.events.filter(event => event['method'] === 'notify').map(event => String(event['message']));

/** Puts a door that counts in front of the host: its run file names the door's socket from now on. */
async function doorBefore(root: string, at: string): Promise<Door> {
  const files = readdirSync(runFolder(root));
  assert.equal(files.length, 1);
  const file = path.join(runFolder(root), files[0] ?? '');
  const record = JSON.parse(readFileSync(file, 'utf8')) as { readonly socket: string };
  const door = await Door.open(at, record.socket);
  writeFileSync(file, JSON.stringify({ ...record, socket: at }));
  return door;
}

describe('the installed loader', () => {
  let box: Sandbox;
  let door: Door;
  before(async () => {
    box = await Sandbox.make();
    await box.host();
    door = await doorBefore(box.root, path.join(box.dir, 'door.sock'));
  });
  after(async () => {
    await door.close();
    await box.close();
  });
  const last = () => box.turns.at(-1) ?? assert.fail('no request');

  it('costs a Pi that only lists its models nothing: no connection, no file', async () => {
    await door.assertCounts();
    const accepted = door.accepted;
    const files = snapshot(box.root);
    const listed = await box.print('--list-models');
    assert.match(listed.stdout + listed.stderr, /demo-1/);
    assert.equal(door.accepted, accepted);
    assert.deepEqual(snapshot(box.root), files);
    assert.equal(box.archives.length, 0);
    assert.equal(box.sessionFiles.length, 0);

    // The very same Pi comes through that door as soon as it has a session.
    const pi = box.rpc();
    await pi.until('the memory', event => /memory: on/.test(String(event['statusText'])));
    assert.equal(door.accepted, accepted + 1);
    await pi.close();
  });

  it('is inert as a second copy: one memory, told once', async () => {
    const folder = path.join(box.project, '.pi/extensions');
    mkdirSync(folder, { recursive: true });
    copyFileSync(loaderPath(box.agent), path.join(folder, 'copy.js'));
    const accepted = door.accepted;
    const pi = box.rpc('--approve');
    await pi.prompt('first ;; !say one');
    await pi.prompt('second ;; !say two');
    assert.deepEqual(outline(last()), ['system', 'view', 'user second ;; !say two']);
    assert.equal(viewOf(last())?.match(/\|user: /g)?.length, 1);
    assert.equal(noticesOf(pi).filter(text => /installed twice/.test(text)).length, 1);
    assert.equal(door.accepted, accepted + 1, 'two copies connected');
    assert.equal(box.entries.filter(entry => entry['customType'] === 'strata.run').length, 2);
    await pi.close();
    rmSync(folder, { recursive: true });
  });

  it('refuses the prompts of a session that has a memory when its program is broken, in every mode', async () => {
    const before = box.turns.length;
    assert.ok(before > 0);
    writeFileSync(box.bundle, 'throw new Error("a broken disk");');

    const printed = await box.print('-c', 'third ;; !say never');
    assert.equal(printed.code, 1);
    assert.match(printed.stderr, /could not be loaded \(a broken disk\).*Install Pi Extension/);

    const pi = box.rpc('-c');
    const answer = await pi.send('prompt', { message: 'fourth ;; !say never' });
    assert.deepEqual(answer['data'], { disposition: 'handled' });
    assert.match(noticesOf(pi).at(-1) ?? '', /nothing was sent/);
    assert.ok(pi.isRunning);
    await pi.close();

    const screen = await box.tui('-c');
    await screen.until(/demo-1/);
    await screen.type('fifth ;; !say never');
    await screen.press('Enter');
    await screen.until(/This session has a memory that cannot be read now, so nothing was sent/);
    await screen.close();
    assert.equal(box.turns.length, before);
  });

  it('lets a session without a memory work on when its program is missing, and says so once', async () => {
    rmSync(path.dirname(box.bundle), { recursive: true });
    const pi = box.rpc();
    await pi.prompt('first ;; !say one');
    await pi.prompt('second ;; !say two');
    assert.deepEqual(outline(last()), [
      'system',
      'user first ;; !say one',
      'assistant one',
      'user second ;; !say two',
    ]);
    const notices = noticesOf(pi);
    assert.equal(notices.length, 1);
    assert.match(notices[0] ?? '', /This session runs without memory\. Strata .* could not be loaded/);
    await pi.close();
  });
});
