import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { eventually, openContainer, ready, treeRow, view } from '../../scripts/workbench-ui.mjs';
import { readArchive } from '../../extension/cli/readArchive';
import { Sandbox } from '../support/pi';
import type { PiRpc } from '../support/piRpc';
import { Desk } from './desk';

describe('a window of two folders', () => {
  let box: Sandbox;
  let desk: Desk;
  const folder = (name: string) => path.join(box.dir, name);
  before(async () => {
    box = await Sandbox.make();
    for (const name of ['alpha/inner', 'beta']) fs.mkdirSync(folder(name), { recursive: true });
    const workspace = folder('both.code-workspace');
    fs.writeFileSync(workspace, JSON.stringify({ folders: [{ path: 'alpha' }, { path: 'beta' }] }));
    desk = await Desk.open({ box, folder: workspace });
    await ready(desk.page);
    await openContainer(desk.page, 'Strata');
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await desk.shot('folders-failed');
  });
  after(async () => {
    await desk.close();
    await box.close();
  });

  it('keeps the sessions of each, and of a folder inside one, in archives of their own', async () => {
    const run = path.join(desk.root, 'run');
    await eventually('the window serves', () => fs.existsSync(run) && fs.readdirSync(run).length > 0, 30_000);
    for (const name of ['alpha', 'alpha/inner', 'beta']) {
      const pi = box.rpcIn(folder(name));
      await pi.prompt(`from ${name} ;; !say hello ${name}`, 60_000);
      await pi.prompt(`again ${name} ;; !say once more ${name}`, 60_000);
      assert.match(JSON.stringify(box.turns.at(-1)?.conversation), new RegExp(`talk: hello ${name}`));
      assert.equal(await pi.close(), 0);
    }
    assert.deepEqual(
      fs.readdirSync(run).filter(name => name.startsWith('pi-')),
      [],
      'the window owned them all',
    );
    const kept = await Promise.all(box.archives.map(async dir => (await readArchive(dir)).config.cwd));
    assert.deepEqual(kept.sort(), [folder('alpha'), folder('alpha/inner'), folder('beta')]);
    assert.deepEqual(
      fs.readdirSync(path.join(desk.root, 'sessions')).length,
      3,
      'and nothing was made for a folder that is none of a session',
    );
  });

  it('lists them all, and shows the memory of the one that is chosen', async () => {
    for (const name of ['beta', 'alpha/inner', 'alpha']) {
      await treeRow(view(desk.page, 'Sessions'), new RegExp(`from ${name} `))
        .first()
        .click();
      await treeRow(view(desk.page, 'Memory'), `talk: once more ${name}`).waitFor({ timeout: 30_000 });
      assert.equal(await treeRow(view(desk.page, 'Memory'), /^talk: hello/).count(), 1);
    }
    await desk.shot('folders-1-chosen');
  });
});

describe('a session that Pi kept before there was a window', () => {
  let box: Sandbox;
  let pi: PiRpc;
  let desk: Desk;
  before(async () => {
    box = await Sandbox.make();
    pi = box.rpc();
    await pi.prompt('before ;; !say Nobody looks yet.', 60_000);
    desk = await Desk.open({ box, folder: box.project });
    await ready(desk.page);
    await openContainer(desk.page, 'Strata');
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await desk.shot('kept-failed');
  });
  after(async () => {
    await desk.close();
    await box.close();
  });

  it('is shown, and followed while Pi goes on keeping it', async () => {
    const memory = view(desk.page, 'Memory');
    await treeRow(view(desk.page, 'Sessions'), /^before/)
      .first()
      .click();
    await treeRow(memory, 'talk: Nobody looks yet.').waitFor({ timeout: 45_000 });
    for (const said of ['Somebody looks now.', 'And still.']) {
      await pi.prompt(`more ;; !say ${said}`, 60_000);
      await treeRow(memory, `talk: ${said}`).waitFor({ timeout: 30_000 });
    }
    const run = fs.readdirSync(path.join(desk.root, 'run'));
    assert.ok(
      run.some(name => name.startsWith('pi-')),
      `Pi is still its owner: ${run.join(', ')}`,
    );
    await desk.shot('kept-1-followed');
  });
});
