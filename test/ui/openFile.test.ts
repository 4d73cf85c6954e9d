import fs from 'node:fs';
import path from 'node:path';
import {
  editorText,
  eventually,
  expand,
  notification,
  openContainer,
  ready,
  runCommand,
  treeRow,
  view,
} from '../../scripts/workbench-ui.mjs';
import { Desk } from './desk';

/** A session of format 1 that ran on another machine, with 200 messages and no line written for any of them. */
function oldSession(): string {
  const entries: object[] = [
    {
      type: 'session',
      id: 'an-old-session',
      timestamp: '2026-11-03T10:00:00.000Z',
      cwd: '/Users/somebody/tea',
    },
  ];
  for (let i = 0; i < 200; i++) {
    const text = i % 2 === 0 ? `question ${i}` : `answer ${i} ${'that takes a while to read '.repeat(30)}`;
    const message =
      i % 2 === 0
        ? { role: 'user', content: text, timestamp: 1_793_700_000_000 + i * 60_000 }
        : {
            role: 'assistant',
            content: [{ type: 'text', text }],
            stopReason: 'stop',
            timestamp: 1_793_700_000_000 + i * 60_000,
          };
    entries.push({ type: 'message', timestamp: new Date(message.timestamp).toISOString(), message });
  }
  return entries.map(entry => JSON.stringify(entry)).join('\n');
}

describe('Open Session File from the palette', () => {
  let desk: Desk;
  before(async () => {
    desk = await Desk.open();
    fs.writeFileSync(path.join(desk.dir, 'old.jsonl'), oldSession());
    fs.writeFileSync(path.join(desk.dir, 'wrong.jsonl'), 'no session\n');
    await ready(desk.page);
    await openContainer(desk.page, 'Strata');
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await desk.shot('file-failed');
  });
  after(() => desk.close());

  const memory = () => view(desk.page, 'Memory');
  const open = async (name: string) => {
    await runCommand(desk.page, 'Strata: Open Session File…');
    const dialog = desk.page.locator('.quick-input-widget:visible');
    await dialog.getByText('Open a session file of Pi').waitFor();
    // The dialog first writes its own folder into the box, and takes a path only after it has looked there.
    const file = path.join(desk.dir, name);
    const box = dialog.locator('input.input');
    await eventually('the dialog holds the path', async () => {
      await box.fill(file);
      await dialog.locator('.monaco-list-row', { hasText: name }).waitFor({ timeout: 3000 });
      await desk.page.waitForTimeout(500);
      return (await box.inputValue()) === file;
    });
    await desk.page.keyboard.press('Enter');
  };

  it('an old session of another machine is read, listed and shown', async () => {
    await open('old.jsonl');
    await treeRow(memory(), '128 records · user: question 0').waitFor({ timeout: 60_000 });
    await treeRow(view(desk.page, 'Sessions'), 'question 0').waitFor();
    await desk.shot('file-1-read');
  });

  it('from a stretch without a summary one gets down to an original', async () => {
    await expand(treeRow(memory(), '128 records · user: question 0'));
    await expand(treeRow(memory(), '8 records · user: question 8'));
    await treeRow(memory(), /^talk: answer 9/).click();
    await eventually('the original', async () =>
      (await editorText(desk.page)).startsWith('answer 9 that takes'),
    );
    await desk.shot('file-2-original');
  });

  it('a file that is no session is refused in a sentence', async () => {
    await open('wrong.jsonl');
    await notification(desk.page, /is no Pi session file/).waitFor({ timeout: 30_000 });
    await desk.shot('file-3-refused');
  });
});
