// Programs of the system that the tests need: found on PATH, installed by apt where that is allowed, else asked for.
import fs from 'node:fs';
import path from 'node:path';
import { SetupError, locked, must } from './install.mjs';

/** @param {string} name @returns {string | undefined} the path of a program on PATH */
function onPath(name) {
  const names = process.platform === 'win32' ? [`${name}.exe`, `${name}.cmd`] : [name];
  for (const folder of (process.env.PATH ?? '').split(path.delimiter))
    for (const file of names)
      if (path.isAbsolute(folder) && fs.existsSync(path.join(folder, file))) return path.join(folder, file);
  return undefined;
}

/**
 * A program of the system: installed by apt where this is Debian and we are root, asked for elsewhere.
 * @param {string} name
 * @param {string} debian the package that has it
 * @param {{find?: () => string | undefined, advice?: string}} [options]
 * @returns {Promise<string>} its path
 * @throws {SetupError}
 */
export async function ensureProgram(name, debian, options = {}) {
  const find = options.find ?? (() => onPath(name));
  const found = find();
  if (found !== undefined) return found;
  const advice = options.advice ?? `Install ${debian} with your system's package manager and run again`;
  if (process.getuid?.() !== 0 || onPath('apt-get') === undefined)
    throw new SetupError(`${name} is missing. ${advice}.`);
  return locked('apt', async () => {
    const now = find();
    if (now !== undefined) return now;
    console.log(`setting up ${debian} by apt ...`);
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const apt = ['-qq', '-o', 'DPkg::Lock::Timeout=300'];
    await must(`${debian} by apt`, 'apt-get', [...apt, 'update'], { env, advice });
    await must(`${debian} by apt`, 'apt-get', [...apt, 'install', '-y', '--no-install-recommends', debian], {
      env,
      advice,
    });
    const after = find();
    if (after === undefined)
      throw new SetupError(`apt installed ${debian}, but ${name} is still missing. ${advice}.`);
    return after;
  });
}

/**
 * A Chromium (or Chrome) for the workbench.
 * @returns {Promise<string>} its path
 * @throws {SetupError}
 */
export async function ensureChromium() {
  const named = process.env.STRATA_CHROMIUM;
  if (named) {
    if (fs.existsSync(named)) return named;
    throw new SetupError(
      `STRATA_CHROMIUM names ${named}, which doesn't exist: let it name the program of a Chromium or Chrome.`,
    );
  }
  const find = () =>
    ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome']
      .map(onPath)
      .find(file => file !== undefined) ??
    [
      '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
      '/Applications/Chromium.app/Contents/MacOS/Chromium',
    ].find(file => fs.existsSync(file));
  return ensureProgram('Chromium', 'chromium', {
    find,
    advice:
      'Install Chromium or Chrome and run again; if it is not on PATH, let STRATA_CHROMIUM name its program',
  });
}

/** @returns {Promise<string>} the path of tmux @throws {SetupError} */
export async function ensureTmux() {
  return ensureProgram('tmux', 'tmux');
}

/** What a native package is built with. @throws {SetupError} */
export async function ensureBuildTools() {
  await ensureProgram('g++', 'g++');
  await ensureProgram('make', 'make');
  await ensureProgram('python3', 'python3');
}
