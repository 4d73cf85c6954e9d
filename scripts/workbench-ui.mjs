// What a person does and sees in the workbench, as functions on its page. They find things by what is shown.
import fs from 'node:fs';
import path from 'node:path';
import { ROOT } from './tools.mjs';

/** @typedef {import('playwright-core').Page} Page */
/** @typedef {import('playwright-core').Locator} Locator */

const sleep = (/** @type {number} */ ms) => new Promise(done => setTimeout(done, ms));
/** @param {string} text */
const literally = text => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
/** @param {string} text for a place between double quotes in a selector */
const quoted = text => text.replace(/["\\]/g, '\\$&');

/** Screenshots of the tests go here; not committed. */
export const SHOTS = path.join(ROOT, 'out/shots');

/**
 * Waits until `look` gives something that is neither undefined nor false.
 * @template T
 * @param {string} what in the words of the failure: "the status bar shows 3 records"
 * @param {() => Promise<T | undefined | false> | T | undefined | false} look may throw while it isn't so yet
 * @param {number} [timeout] milliseconds
 * @returns {Promise<T>}
 */
export async function eventually(what, look, timeout = 15_000) {
  /** @type {unknown} */
  let last;
  for (const end = Date.now() + timeout; ; await sleep(100)) {
    try {
      const seen = await look();
      if (seen !== undefined && seen !== false) return seen;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end)
      throw new Error(
        `not within ${timeout / 1000} s: ${what}${last instanceof Error ? ` (${last.message})` : ''}`,
      );
  }
}

/** Waits until the workbench is drawn. Extensions may still be some seconds away. @param {Page} page */
export async function ready(page) {
  await page.locator('.monaco-workbench').waitFor({ timeout: 60_000 });
  await page.locator('.statusbar-item').first().waitFor({ timeout: 60_000 });
}

/**
 * @param {Page} page
 * @param {string} name the file's, without .png
 * @returns {Promise<string>} the file
 */
export async function screenshot(page, name) {
  fs.mkdirSync(SHOTS, { recursive: true });
  const file = path.join(SHOTS, `${name}.png`);
  await page.screenshot({ path: file });
  return file;
}

/**
 * Shows a view container by the title of its icon in the activity bar.
 * @param {Page} page
 * @param {string} title
 */
export async function openContainer(page, title) {
  const link = page.locator(`.activitybar .action-item a[aria-label^="${quoted(title)}"]`).first();
  await link.waitFor({ timeout: 30_000 });
  const shown = page.locator('.sidebar .composite.title', { hasText: new RegExp(literally(title), 'i') });
  // A click on the one that is shown hides it, and a window that was just loaded may be about to show it.
  for (const end = Date.now() + 30_000; ;) {
    try {
      await shown.waitFor({ timeout: 3000 });
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
      await link.click();
    }
  }
}

/**
 * A view of the side bar, by the title of its header.
 * @param {Page} page
 * @param {string} title
 */
export const view = (page, title) =>
  page.locator('.sidebar .pane', {
    has: page.locator('.pane-header .title', { hasText: new RegExp(`^${literally(title)}$`, 'i') }),
  });

/**
 * Rows of a tree by their label. (The accessible name is no help: it is the tooltip where there is one.)
 * @param {Page | Locator} within
 * @param {string | RegExp} label all of it, or a pattern
 */
export const treeRow = (within, label) =>
  within.locator('.monaco-list-row[role=treeitem]').filter({
    // What a row has is looked for in the row, so it must not start at `within`.
    has: ('page' in within ? within.page() : within)
      .locator('.label-name')
      .filter({ hasText: typeof label === 'string' ? new RegExp(`^${literally(label)}$`) : label }),
  });

/**
 * Opens a row's children, if they aren't shown already.
 * @param {Locator} row
 */
export async function expand(row) {
  await row.first().waitFor({ timeout: 15_000 });
  if ((await row.first().getAttribute('aria-expanded')) === 'false')
    await row.first().locator('.monaco-tl-twistie').click();
}

/**
 * Runs a command from the palette. Commands of an extension that was just installed appear late, and an open palette
 * doesn't list them: so it is opened anew.
 * @param {Page} page
 * @param {string} label "Category: Title"
 * @param {number} [timeout] milliseconds
 */
export async function runCommand(page, label, timeout = 30_000) {
  const box = page.locator('.quick-input-widget:visible input.input');
  const row = page.locator(`.quick-input-list .monaco-list-row[aria-label^="${quoted(label)}"]`).first();
  for (const end = Date.now() + timeout; ;) {
    await page.keyboard.press('F1');
    try {
      await box.waitFor({ timeout: 2000 });
      await box.fill(`>${label}`);
      await row.waitFor({ timeout: 2000 });
      await row.click({ timeout: 2000 });
      return;
    } catch (error) {
      if (Date.now() > end) throw new Error(`the palette doesn't list "${label}"`, { cause: error });
      await page.keyboard.press('Escape');
    }
  }
}

/**
 * Answers an input box.
 * @param {Page} page
 * @param {string} text
 */
export async function answer(page, text) {
  const box = page.locator('.quick-input-widget:visible input.input');
  await box.waitFor();
  await box.fill(text);
  await page.keyboard.press('Enter');
}

/**
 * Chooses from a quick pick.
 * @param {Page} page
 * @param {string} label or a part of it
 */
export async function pick(page, label) {
  await page.locator('.quick-input-list .monaco-list-row', { hasText: label }).first().click();
}

/**
 * Presses a button of the modal dialog.
 * @param {Page} page
 * @param {string} label
 */
export async function pressInDialog(page, label) {
  await page
    .locator('.monaco-dialog-box .dialog-buttons .monaco-button', { hasText: label })
    .first()
    .click({ timeout: 15_000 });
}

/** @param {Page} page @param {string | RegExp} text */
export const notification = (page, text) => page.locator('.notification-list-item', { hasText: text });

/**
 * A status bar item of an extension.
 * @param {Page} page
 * @param {string} id "publisher.extension.item", the item as in createStatusBarItem
 */
export const statusItem = (page, id) => page.locator(`.statusbar [id="${quoted(id)}"]`);

/**
 * The text of the active editor as far as it is shown.
 * @param {Page} page
 */
export async function editorText(page) {
  const lines = await page.locator('.editor-group-container.active .view-line').allInnerTexts();
  return lines.join('\n').replaceAll('\u00a0', ' ');
}

/**
 * The document inside a webview: the frame, two deep, that has `selector`.
 * @param {Page} page
 * @param {string} selector
 */
export const webview = (page, selector) =>
  eventually(`a webview with ${selector}`, async () => {
    for (const frame of page.frames())
      if (frame.parentFrame()?.parentFrame() && (await frame.locator(selector).count()) > 0) return frame;
    return undefined;
  });

/**
 * What the terminal shows: visible rows only.
 * @param {Page} page
 */
export async function terminalText(page) {
  const rows = page.locator('.terminal-wrapper.active .xterm-rows, .terminal-wrapper .xterm-rows').last();
  return (await rows.innerText()).replaceAll('\u00a0', ' ');
}

/**
 * @param {Page} page
 * @param {string | RegExp} text
 * @param {number} [timeout] milliseconds
 */
export const terminalShows = (page, text, timeout = 30_000) =>
  eventually(
    `the terminal shows ${text}`,
    async () => {
      const shown = await terminalText(page);
      return (typeof text === 'string' ? shown.includes(text) : text.test(shown)) && shown;
    },
    timeout,
  );

/** Set in a page that leaves without VS Code doing anything more. */
const QUIET = 'strataLeavesQuietly';
/** For `QUIET`: before any script of the page, to be first in line. */
export const QUIET_LEAVING = `window.addEventListener('beforeunload', event => {
  if (window.${QUIET}) event.stopImmediatePropagation();
}, true);`;

/**
 * As a person does it: VS Code notes down what is open, and loads the window anew. In a browser it then also tells its
 * server to let go of the terminals, and a server that is slower than the page's end takes that for their end; so what
 * VS Code would do before the page goes is left out here.
 * @param {Page} page
 */
export async function reloadWindow(page) {
  await page.evaluate(`window.${QUIET} = true`);
  const reloaded = page.waitForEvent('load', { timeout: 60_000 });
  await runCommand(page, 'Developer: Reload Window');
  await reloaded;
  await ready(page);
}

/**
 * Terminals in the editor area. Not by name: after a reload VS Code at times calls a restored one after its folder.
 * @param {Page} page
 */
export const terminalTabs = page => page.locator('.editor-group-container .tab:has(.terminal-tab)');

/**
 * Types one line into the terminal and presses Enter. For several lines use `pasteIntoTerminal`: no key for a new
 * line works on every version.
 * @param {Page} page
 * @param {string} text
 */
export async function typeIntoTerminal(page, text) {
  await page.locator('.terminal-wrapper .xterm-helper-textarea').last().focus();
  await page.keyboard.type(text, { delay: 2 });
  await page.keyboard.press('Enter');
}

/**
 * Pastes text into the terminal without submitting it.
 * @param {Page} page
 * @param {string} text
 */
export async function pasteIntoTerminal(page, text) {
  const input = page.locator('.terminal-wrapper .xterm-helper-textarea').last();
  await input.focus();
  // In the page's own words: an event made from out here would be no ClipboardEvent, and nobody would read it.
  await page.evaluate(`{
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', ${JSON.stringify(text)});
    document.activeElement.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }`);
}
