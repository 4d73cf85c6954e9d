// `node scripts/picture.mjs`: takes media/screenshot.png, the picture in the README, from the real demo.
import fs from 'node:fs';
import path from 'node:path';
import { withDemoWindow } from './demo/window.mjs';
import { ROOT, die } from './tools.mjs';
import { eventually, terminalShows, typeIntoTerminal, view } from './workbench-ui.mjs';

const FILE = path.join(ROOT, 'media/screenshot.png');
/** It is loaded with every look at the README. */
const MAX_BYTES = 300_000;
/** Wide enough for lines to be read. */
const SIDE_BAR = 460;

/** @param {import('playwright-core').Page} page */
async function takePicture(page) {
  await terminalShows(page, /memory: on/, 240_000);
  const side = await page.locator('.part.sidebar').boundingBox();
  if (side === null) throw new Error('The window has no side bar.');
  const y = side.y + side.height / 2;
  await page.mouse.move(side.x + side.width, y);
  await page.mouse.down();
  await page.mouse.move(SIDE_BAR, y, { steps: 8 });
  await page.mouse.up();
  await typeIntoTerminal(page, 'What do you remember?');
  await terminalShows(page, 'Open a line in the Memory view', 60_000);
  await eventually('the Memory view shows the question', async () =>
    (await view(page, 'Memory').innerText()).includes('What do you remember?'),
  );
  await page.mouse.move(900, 300);
  fs.writeFileSync(FILE, await page.screenshot());
  const { size } = fs.statSync(FILE);
  if (size > MAX_BYTES)
    throw new Error(`${FILE} has ${size} bytes; the README's picture may have ${MAX_BYTES}.`);
  console.log(`${path.relative(ROOT, FILE)}: ${size} bytes`);
}

try {
  await withDemoWindow({ memory: true, viewport: { width: 1440, height: 900 } }, ({ page }) =>
    takePicture(page),
  );
} catch (error) {
  die(error);
}
