// The demo in a headless Chromium, in a folder of its own that is gone afterwards.
import crypto from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startCodeServer } from '../codeServer.mjs';
import { ensureCodeServer } from '../tools.mjs';
import { openWorkbench } from '../workbench.mjs';
import { preparePlay, ripgrepOf } from './play.mjs';
import { buildExtension } from './vsix.mjs';

/** Where code-server has VS Code's own `node_modules`. */
export async function codeServerApp() {
  const { entry } = await ensureCodeServer('4.139.1');
  return path.join(path.dirname(entry), '../../lib/vscode');
}

/**
 * What a demo looks like to a script.
 * @typedef {object} DemoWindow
 * @property {import('playwright-core').Page} page
 * @property {readonly string[]} errors of the page so far
 * @property {import('./play.mjs').Play} play
 * @property {string} dist the folder of the built extension
 */

/**
 * Opens the demo as `npm start` does, password and all. Whatever happens, nothing keeps running.
 * @template T
 * @param {{memory: boolean, viewport?: {width: number, height: number}}} options
 * @param {(demo: DemoWindow) => Promise<T>} work while the window is open
 * @param {(demo: Omit<DemoWindow, 'page'>, result: T) => Promise<number>} [after] when it has been closed
 * @returns {Promise<number>} what `after` says, else 0
 */
export async function withDemoWindow({ memory, viewport }, work, after = async () => 0) {
  const { vsix, dist } = await buildExtension();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'strata-demo-'));
  try {
    const play = await preparePlay(folder, { memory, dist, ripgrep: ripgrepOf(await codeServerApp()) });
    try {
      /** @type {readonly string[]} */
      let errors = [];
      const server = await startCodeServer({
        home: path.join(folder, 'code'),
        files: {},
        settings: play.settings,
        vsix: [vsix],
        env: play.env,
        password: crypto.randomBytes(9).toString('base64url'),
      });
      let result;
      try {
        const options = { folder: play.stage.project, ...(viewport === undefined ? {} : { viewport }) };
        const workbench = await openWorkbench(server, options);
        errors = workbench.errors;
        try {
          result = await work({ page: workbench.page, errors, play, dist });
        } finally {
          await workbench.close();
        }
      } finally {
        await server.stop();
      }
      return await after({ errors, play, dist }, result);
    } finally {
      await play.model.close();
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
