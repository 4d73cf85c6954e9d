// The folder a demo plays in: the sample project, a Pi agent folder of its own, and a program that runs Pi on them.
// Nothing outside this folder is written; the user's own ~/.pi is not even read.
import fs from 'node:fs';
import path from 'node:path';
import { writeAgentDir } from '../model/server.mjs';
import { ensurePiProgram, ensureNode, ROOT } from '../tools.mjs';

/**
 * @typedef {object} Stage
 * @property {string} folder everything below is in it
 * @property {string} project the sample folder, to be opened in VS Code
 * @property {string} agent Pi's agent folder
 * @property {string} archives the archive root
 * @property {string} pi a program that runs Pi, for the setting `strata.piPath`
 * @property {NodeJS.ProcessEnv} env for whatever starts Pi or VS Code
 */

/**
 * Prepares a demo folder. What the user did in it before stays: files and sessions are made only where missing.
 * @param {string} folder
 * @param {{modelPort: number, ripgrep: string | undefined, contextWindow?: number}} options
 * @returns {Promise<Stage>}
 */
export async function prepareStage(folder, { modelPort, ripgrep, contextWindow }) {
  fs.mkdirSync(folder, { recursive: true });
  // Pi and Strata know folders by their real paths.
  const home = fs.realpathSync(folder);
  const project = path.join(home, 'steep');
  if (!fs.existsSync(project)) fs.cpSync(path.join(ROOT, 'scripts/demo/steep'), project, { recursive: true });
  const agent = path.join(home, 'agent');
  // The port is a new one at each start.
  writeAgentDir(agent, modelPort, contextWindow === undefined ? {} : { contextWindow });
  await provideTools(path.join(agent, 'bin'), ripgrep);
  const pi = await writePiProgram(path.join(home, 'bin'), agent);
  const archives = path.join(agent, 'strata');
  return { folder: home, project, agent, archives, pi, env: { PI_CODING_AGENT_DIR: agent } };
}

/**
 * Pi looks for `fd` and `rg` in its agent folder first; without them it would warn on its first screen.
 * @param {string} bin
 * @param {string | undefined} ripgrep an `rg` to use where none is on PATH
 */
async function provideTools(bin, ripgrep) {
  fs.mkdirSync(bin, { recursive: true });
  const rg = path.join(bin, 'rg');
  if (ripgrep !== undefined && !fs.existsSync(rg)) {
    fs.rmSync(rg, { force: true });
    fs.symlinkSync(ripgrep, rg);
  }
  if (process.platform !== 'win32')
    writeScript(path.join(bin, 'fd'), [
      `exec ${word(await ensureNode())} ${word(path.join(ROOT, 'scripts/demo/fd.mjs'))} "$@"`,
    ]);
}

/**
 * Pi as one program that stays offline and in this demo, wherever it is started from.
 * @param {string} bin
 * @param {string} agent
 * @returns {Promise<string>}
 */
async function writePiProgram(bin, agent) {
  const program = await ensurePiProgram();
  // A script of another kind would be needed there, and the plain program does as well.
  if (process.platform === 'win32') return program;
  fs.mkdirSync(bin, { recursive: true });
  const file = path.join(bin, 'pi');
  writeScript(file, [
    // `node --test` must work in the demo, and a login shell may know no Node.
    `PATH=${word(path.dirname(await ensureNode()))}:$PATH`,
    `PI_CODING_AGENT_DIR=${word(agent)} PI_OFFLINE=1 PI_SKIP_VERSION_CHECK=1 PI_TELEMETRY=0`,
    'export PATH PI_CODING_AGENT_DIR PI_OFFLINE PI_SKIP_VERSION_CHECK PI_TELEMETRY',
    `exec ${word(program)} "$@"`,
  ]);
  return file;
}

/** @param {string} file @param {readonly string[]} lines */
function writeScript(file, lines) {
  fs.writeFileSync(file, ['#!/bin/sh', ...lines, ''].join('\n'));
  fs.chmodSync(file, 0o755);
}

/** @param {string} text one word of a POSIX shell */
const word = text => `'${text.replaceAll("'", "'\\''")}'`;
