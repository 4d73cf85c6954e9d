import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {
  eventually,
  notification,
  openContainer,
  pick,
  ready,
  reloadWindow,
  runCommand,
  statusItem,
  terminalShows,
  terminalTabs,
  treeRow,
  typeIntoTerminal,
  view,
} from '../../scripts/workbench-ui.mjs';
import { Desk } from './desk';

const terminals = (desk: Desk) => terminalTabs(desk.page);

describe('a window that npm start opens', () => {
  let desk: Desk;
  before(async () => {
    desk = await Desk.open({ env: { STRATA_OPEN_SESSION: '1' } });
    await ready(desk.page);
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await desk.shot('start-failed');
  });
  after(() => desk.close());

  it('shows the memory and a live session without a question', async () => {
    await terminals(desk).first().waitFor({ timeout: 45_000 });
    await view(desk.page, 'Memory').waitFor();
    await terminalShows(desk.page, /demo-1/);
    await typeIntoTerminal(desk.page, 'hello ;; !say Good morning.');
    await treeRow(view(desk.page, 'Memory'), 'talk: Good morning.').waitFor();
    assert.ok(fs.existsSync(path.join(desk.agent, 'extensions', 'strata.js')));
    await desk.shot('start-1-first-screen');
  });

  it('a second reload later it is still that one session', async () => {
    for (let i = 0; i < 2; i++) {
      await reloadWindow(desk.page);
      await terminals(desk).first().waitFor({ timeout: 45_000 });
      // As long as a second one would take to appear.
      await treeRow(view(desk.page, 'Memory'), 'talk: Good morning.').waitFor({ timeout: 45_000 });
      await desk.page.waitForTimeout(3000);
      assert.equal(await terminals(desk).count(), 1);
      await terminalShows(desk.page, /Good morning\./);
    }
  });

  it('a summary that cannot be written stops the prompt, and the status bar says so and leads to what to do', async () => {
    await typeIntoTerminal(
      desk.page,
      `tell !summary status ${'a long story that needs a summary. '.repeat(20)} ;; !say ok`,
    );
    await treeRow(view(desk.page, 'Memory'), 'talk: ok').waitFor({ timeout: 60_000 });
    const before = desk.requests.length;
    await typeIntoTerminal(desk.page, 'and now?');
    const item = statusItem(desk.page, 'strata.strata.memory');
    await eventually(
      'the status bar says that memory stopped',
      async () => /memory stopped/.test(await item.innerText()),
      90_000,
    );
    assert.equal(desk.requests.length, before, 'nothing was sent');
    await item.click();
    await desk.page.locator('.quick-input-widget:visible').getByText('Show Log').waitFor();
    await desk.shot('start-2-stopped');
    await pick(desk.page, 'memory stopped');
    await notification(desk.page, /Send the prompt again in Pi to retry/).waitFor();
  });
});

describe('a window in Restricted Mode', () => {
  let desk: Desk;
  before(async () => {
    desk = await Desk.open({ restricted: true, env: { STRATA_OPEN_SESSION: '1' } });
    await ready(desk.page);
    await openContainer(desk.page, 'Strata');
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await desk.shot('restricted-failed');
  });
  after(() => desk.close());

  it('starts no session, serves none and says so, while files can be read', async () => {
    await view(desk.page, 'Sessions')
      .getByText('In Restricted Mode none can be started')
      .waitFor({ timeout: 60_000 });
    await notification(desk.page, /In Restricted Mode Strata starts no Pi session/).waitFor();
    await desk.shot('restricted-1');
    assert.equal(await terminals(desk).count(), 0);
    assert.ok(!fs.existsSync(path.join(desk.root, 'run')), 'nothing is served');
    assert.ok(!fs.existsSync(path.join(desk.agent, 'extensions')), 'nothing is installed');
  });

  it('granting trust starts serving without a reload', async () => {
    await notification(desk.page, /In Restricted Mode/)
      .getByText('Manage Workspace Trust')
      .click();
    await desk.page
      .locator('.workspace-trust-editor .monaco-button', { hasText: /^Trust$/ })
      .first()
      .click();
    await eventually(
      'a host serves the folder',
      () => fs.readdirSync(path.join(desk.root, 'run')).length > 0,
      30_000,
    );
    await runCommand(desk.page, 'Strata: New Pi Session');
    await desk.page.getByText('Let Strata remember what Pi does?').waitFor();
    await desk.shot('restricted-2-trusted');
  });
});
