import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {
  editorText,
  eventually,
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
import { filesWith, processesWith } from '../support/secretSearch';
import { Desk } from './desk';

/** Long enough that no line holds it: its summary has to be written by the model. */
const STORY =
  'The kettle story: ' + 'green tea wants eighty degrees and two minutes, black tea wants more. '.repeat(12);

describe('a session in the window', () => {
  let desk: Desk;
  before(async () => {
    desk = await Desk.open();
    await ready(desk.page);
    await openContainer(desk.page, 'Strata');
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await desk.shot('session-failed');
  });
  after(() => desk.close());

  const memory = () => view(desk.page, 'Memory');
  const sessions = () => view(desk.page, 'Sessions');

  it('an empty window says what will be here and offers the next step', async () => {
    await sessions().getByText('The Pi sessions of this folder will be listed here.').waitFor();
    await memory().getByText('What Pi remembers of a session appears here').waitFor();
    await desk.shot('session-1-empty');
  });

  it('New Pi Session from the palette asks, installs, and opens Pi in the editor area', async () => {
    await runCommand(desk.page, 'Strata: New Pi Session');
    await desk.page.getByText('Let Strata remember what Pi does?').waitFor();
    await desk.shot('session-2-question');
    await pick(desk.page, 'Install and start');
    await terminalShows(desk.page, /demo-1|Demo model/);
    await desk.page.locator('.editor-group-container .tab', { hasText: 'Pi' }).first().waitFor();
    await desk.shot('session-3-started');
  });

  it('two prompts typed into the terminal are answered and become lines', async () => {
    await typeIntoTerminal(desk.page, `${STORY} ;; !say A long first answer. ${STORY}`);
    await terminalShows(desk.page, /^\s*A long first answer/m);
    await treeRow(memory(), /^user: The kettle story/).waitFor();
    await treeRow(memory(), /^talk: A long first answer/).waitFor();
    await typeIntoTerminal(desk.page, 'go on ;; !say The second answer.');
    await terminalShows(desk.page, /The second answer\./);
    await treeRow(memory(), 'talk: The second answer.').waitFor();
    await desk.shot('session-4-lines');
    assert.equal(desk.requests.length, 2);
    const second = JSON.stringify(desk.requests[1]?.body);
    assert.ok(second.includes('<chat>'), 'the second request carries the view');
    assert.equal(desk.requests[1]?.historyBytes, 0);
  });

  it('the status bar and Sessions say the same', async () => {
    const item = statusItem(desk.page, 'strata.strata.memory');
    await eventually('4 records in the status bar', async () => /4 · /.test(await item.innerText()));
    await sessions().getByText('4 records').waitFor();
  });

  it('an original opens read-only beside the terminal, by mouse and by keyboard', async () => {
    await treeRow(memory(), 'talk: The second answer.').click();
    await eventually('the original', async () => (await editorText(desk.page)) === 'The second answer.');
    await desk.shot('session-5-original');
    await desk.page.keyboard.press('ArrowUp');
    await desk.page.keyboard.press('Space');
    await eventually('the one above', async () => (await editorText(desk.page)).startsWith('go on ;;'));
    await desk.page.keyboard.press('ArrowDown');
    await desk.page.keyboard.press('Space');
    await eventually(
      'and back: the focus stayed',
      async () => (await editorText(desk.page)) === 'The second answer.',
    );
  });

  it('the last view opens as text', async () => {
    await runCommand(desk.page, 'Strata: Open Last View as Text');
    await eventually('the view', async () => (await editorText(desk.page)).startsWith('<chat>\n0+1|'));
    await desk.shot('session-6-view');
  });

  it('after a window reload the terminal is there once, served again, and the next prompt is answered', async () => {
    await reloadWindow(desk.page);
    await openContainer(desk.page, 'Strata');
    const tab = terminalTabs(desk.page);
    await tab.first().waitFor({ timeout: 30_000 });
    // While it has no name yet there is nothing of it but the button that closes it.
    await tab.first().locator('.label-name', { hasText: /\w/ }).click();
    await terminalShows(desk.page, /The second answer/);
    await treeRow(memory(), 'talk: The second answer.').waitFor({ timeout: 30_000 });
    await typeIntoTerminal(desk.page, 'third ;; !say The third answer.');
    await terminalShows(desk.page, /The third answer\./, 45_000);
    await treeRow(memory(), 'talk: The third answer.').waitFor();
    assert.equal(await tab.count(), 1);
    assert.equal(desk.requests.length, 3);
    assert.equal(desk.requests[2]?.historyBytes, 0, 'and it carried the view, not the raw past');
    await desk.shot('session-7-reloaded');
  });

  it('a window reload in the middle of a tool loop costs nothing: the turn finishes on the same view', async () => {
    const ran = (name: string) => fs.existsSync(path.join(desk.dir, name));
    const tool = (command: string) => `!tool bash ${JSON.stringify({ command })}`;
    const slow = `touch ${desk.dir}/begun; sleep 9; touch ${desk.dir}/ended; echo slow-result`;
    const before = desk.requests.length;
    await typeIntoTerminal(
      desk.page,
      `fourth ;; ${tool(slow)} ;; ${tool('echo quick-result')} ;; !say The looped answer.`,
    );
    await eventually('the tool runs', async () => Promise.resolve(ran('begun')));
    assert.ok(!ran('ended'));
    await reloadWindow(desk.page);
    await openContainer(desk.page, 'Strata');
    const tab = terminalTabs(desk.page);
    await tab.first().waitFor({ timeout: 30_000 });
    // While it has no name yet there is nothing of it but the button that closes it.
    await tab.first().locator('.label-name', { hasText: /\w/ }).click();
    await terminalShows(desk.page, /The looped answer\./, 60_000);
    await treeRow(memory(), 'talk: The looped answer.').waitFor({ timeout: 30_000 });
    const steps = desk.requests.slice(before);
    assert.equal(steps.length, 3, 'each step was sent once');
    const views = steps.map(({ body }) => {
      const { messages } = body as { messages: { role: string; content: unknown }[] };
      return JSON.stringify(messages.find(({ role }) => role === 'user'));
    });
    assert.match(views[0] ?? '', /third/);
    assert.equal(new Set(views).size, 1);
    assert.ok(steps.every(({ historyBytes }) => historyBytes === 0));
    for (const said of ['fourth', 'slow-result', 'quick-result'])
      await treeRow(memory(), new RegExp(said)).first().waitFor();
    await desk.shot('session-8-reloaded-inside-a-turn');
  });

  it('the token of the link is in the run file alone: not in the page, user data, a log or a process', async () => {
    const run = path.join(desk.root, 'run');
    const files = fs.readdirSync(run).filter(name => name.startsWith('host-'));
    assert.ok(files.length > 0);
    for (const name of files) {
      const { token } = JSON.parse(fs.readFileSync(path.join(run, name), 'utf8')) as { token: string };
      assert.match(token, /^[0-9a-f]{64}$/);
      assert.deepEqual(filesWith(token, desk.dir, desk.server.home), [path.join(run, name)]);
      assert.deepEqual(processesWith(token), []);
      const stored = String(
        await desk.page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])'),
      );
      const pages = await Promise.all(desk.page.frames().map(frame => frame.content()));
      assert.match(pages.join(), /The third answer/, 'the page was read');
      for (const text of [stored, ...pages, desk.server.log(), desk.server.extensionLog()])
        assert.ok(!text.includes(token));
    }
  });
});
