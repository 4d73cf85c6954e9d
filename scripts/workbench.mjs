// The workbench of a code-server in a headless Chromium. The gestures of a person in it are in workbench-ui.mjs.
import path from 'node:path';
import { startCodeServer } from './codeServer.mjs';
import { ensureChromium } from './tools.mjs';
import { QUIET_LEAVING } from './workbench-ui.mjs';

/** @typedef {import('./codeServer.mjs').CodeServer} CodeServer */
/** @typedef {import('./codeServer.mjs').ServerOptions} ServerOptions */

/**
 * @typedef {object} PageOptions
 * @property {readonly string[]} [dev] folders of extensions to run from their sources
 * @property {string} [tests] a file whose `run()` the extension host shall call
 * @property {string} [folder] or .code-workspace file to open; default: the server's
 * @property {{width: number, height: number}} [viewport]
 * @property {(type: string, args: unknown[]) => void} [onLog] console lines of the extension host, while `tests` run
 * @property {(code: number) => void} [onExit] the end of `tests`
 */

/**
 * @typedef {object} Workbench
 * @property {import('playwright-core').Page} page
 * @property {string[]} errors exceptions and crashes of the page so far
 * @property {string[]} refused addresses beyond 127.0.0.1 that the page asked for; none of them was reached
 * @property {() => Promise<void>} close ends the window as a person does, so that its extension host ends too
 */

/**
 * A headless Chromium that reaches nothing but this machine.
 * @returns {Promise<import('playwright-core').Browser>}
 */
export async function openBrowser() {
  const executablePath = await ensureChromium();
  const { chromium } = await import('playwright-core');
  const root = process.getuid?.() === 0;
  return chromium.launch({
    executablePath,
    headless: true,
    args: [
      ...(root ? ['--no-sandbox'] : []), // Chromium refuses to start as root otherwise
      ...['--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking'],
      '--disable-3d-apis', // a terminal that is drawn by WebGL has no text in the page
      '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
    ],
  });
}

/**
 * Opens the workbench in a headless Chromium.
 * @param {CodeServer} server
 * @param {PageOptions} [options]
 * @returns {Promise<Workbench>}
 */
export async function openWorkbench(server, options = {}) {
  const browser = await openBrowser();
  try {
    const context = await browser.newContext({ viewport: options.viewport ?? { width: 1280, height: 800 } });
    const page = await context.newPage();
    /** @type {string[]} */
    const errors = [];
    /** @type {string[]} */
    const refused = [];
    page.on('pageerror', error => errors.push(error.stack ?? String(error)));
    page.on('crash', () => errors.push('the page crashed'));
    page.on('dialog', dialog => void dialog.accept().catch(() => undefined));
    page.on('requestfailed', request => {
      if (/ERR_NAME_NOT_RESOLVED/.test(request.failure()?.errorText ?? '')) refused.push(request.url());
    });
    await page.exposeFunction(
      'codeAutomationLog',
      (/** @type {string} */ type, /** @type {unknown[]} */ args) => options.onLog?.(type, args),
    );
    await page.exposeFunction('codeAutomationExit', (/** @type {number} */ code) => options.onExit?.(code));
    await page.addInitScript({ content: QUIET_LEAVING });
    if (options.dev?.length)
      await page.addInitScript({
        content: developmentOptions(embedderOptions(server.port, options.dev, options.tests)),
      });
    const folder = options.folder ?? server.folder;
    const query = new URLSearchParams({
      [folder.endsWith('.code-workspace') ? 'workspace' : 'folder']: folder,
      payload: JSON.stringify([['skipWelcome', 'true']]),
    });
    // The workbench says itself when it is ready; on a busy machine its files alone can take a while.
    await page.goto(`${server.origin}/?${query}`, { waitUntil: 'commit', timeout: 60_000 });
    if (server.password !== undefined) {
      await page.locator('input[name=password]').fill(server.password);
      await page.keyboard.press('Enter');
    }
    const close = async () => {
      if (!page.isClosed()) {
        const closed = page.waitForEvent('close', { timeout: 5000 }).catch(() => undefined);
        await page.close({ runBeforeUnload: true });
        await closed;
      }
      await browser.close();
    };
    return { page, errors, refused, close };
  } catch (error) {
    await browser.close();
    throw error;
  }
}

/** @param {number} port @param {readonly string[]} dev @param {string | undefined} tests */
function embedderOptions(port, dev, tests) {
  const remote = (/** @type {string} */ file) => ({
    $mid: 1,
    scheme: 'vscode-remote',
    authority: `127.0.0.1:${port}`,
    path: path.resolve(file),
  });
  return {
    extensions: dev.map(remote),
    ...(tests === undefined ? {} : { extensionTestsPath: remote(tests) }),
  };
}

/**
 * A script for the page, to run before the workbench: adds what an embedder of the web workbench may set to the
 * configuration that stands in the page. (Changing the response on its way would make Chromium cut the page's own web
 * socket.)
 * @param {object} added
 */
const developmentOptions = added => `
  if (window === window.top) new MutationObserver((_, observer) => {
    const meta = document.getElementById('vscode-workbench-web-configuration');
    if (meta === null) return;
    observer.disconnect();
    const settings = JSON.parse(meta.dataset.settings);
    settings.developmentOptions = { ...settings.developmentOptions, ...${JSON.stringify(added)} };
    meta.dataset.settings = JSON.stringify(settings);
  }).observe(document, { childList: true, subtree: true });`;

/**
 * A server and its workbench for as long as `work` takes; both end whatever `work` does.
 * @template T
 * @param {ServerOptions & PageOptions} options
 * @param {(workbench: Workbench & {server: CodeServer}) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withWorkbench(options, work) {
  const { folder: _folder, ...serverOptions } = options;
  const server = await startCodeServer(serverOptions);
  try {
    const workbench = await openWorkbench(server, options);
    try {
      return await work({ ...workbench, server });
    } finally {
      await workbench.close();
    }
  } finally {
    await server.stop();
  }
}
