// Everything of a demo but the window: the model, the folder, the first conversation.
import fs from 'node:fs';
import path from 'node:path';
import { startModel } from '../model/server.mjs';
import { rehearse } from './rehearsal.mjs';
import { prepareStage } from './stage.mjs';

/**
 * @typedef {object} Play
 * @property {import('../model/server.mjs').Model} model
 * @property {import('./stage.mjs').Stage} stage
 * @property {string} sessionFile the conversation that Strata shall open
 * @property {Record<string, unknown>} settings for VS Code
 * @property {NodeJS.ProcessEnv} env for VS Code
 */

/**
 * @param {string} folder
 * @param {{memory: boolean, dist: string, ripgrep: string | undefined}} options
 * @returns {Promise<Play>}
 */
export async function preparePlay(folder, { memory, dist, ripgrep }) {
  const model = await startModel();
  try {
    const stage = await prepareStage(folder, { modelPort: model.port, ripgrep });
    const sessionFile = await rehearse(stage, { memory, dist });
    return {
      model,
      stage,
      sessionFile,
      settings: {
        'strata.piPath': stage.pi,
        'strata.memory.enabled': memory,
        // Light or dark, as the browser is.
        'window.autoDetectColorScheme': true,
      },
      env: { ...stage.env, STRATA_OPEN_SESSION: sessionFile },
    };
  } catch (error) {
    await model.close();
    throw error;
  }
}

/**
 * The ripgrep that VS Code brings along, wherever this version keeps it.
 * @param {string} appRoot the folder with VS Code's `node_modules`
 * @returns {string | undefined}
 */
export function ripgrepOf(appRoot) {
  const platform = `${process.platform}-${process.arch}`;
  const program = process.platform === 'win32' ? 'rg.exe' : 'rg';
  return [`@vscode/ripgrep-universal/bin/${platform}`, '@vscode/ripgrep/bin']
    .map(place => path.join(appRoot, 'node_modules', place, program))
    .find(file => fs.existsSync(file));
}
