// `npm start`: VS Code with Strata, a sample project, a live Pi session and its memory, on a model of this machine.
// Sets up what it needs. `--check` does the same without a window and judges it; `--fresh` begins anew.
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startCodeServer, QUIET_SETTINGS } from './codeServer.mjs';
import { appRootOf, findCode, openDesktop } from './demo/desktop.mjs';
import { preparePlay, ripgrepOf } from './demo/play.mjs';
import { buildExtension } from './demo/vsix.mjs';
import { codeServerApp } from './demo/window.mjs';
import { CACHE, SetupError, die } from './tools.mjs';

const { values: flags } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    sabotage: { type: 'boolean', default: false },
    fresh: { type: 'boolean', default: false },
    port: { type: 'string' },
  },
});

/** STRATA_DEMO_DIR names a folder to keep it in: `--fresh` empties only a folder in there that bears our name. */
const PLACE = process.env['STRATA_DEMO_DIR'];
const HOME = PLACE === undefined ? path.join(CACHE, 'demo') : path.resolve(PLACE, 'strata-demo');
const RUNNING = path.join(HOME, 'running.json');

/** The page that asks for the password, in code-server's names. */
const LOGIN = {
  LOGIN_TITLE: 'Strata',
  WELCOME: 'Strata',
  LOGIN_BELOW: 'Enter the password that npm start printed.',
  LOGIN_USING_ENV_PASSWORD: 'It is a new one at each start.',
  PASSWORD_PLACEHOLDER: 'Password',
  SUBMIT: 'Open',
};

/** Two demos in one folder would fight over its sessions and its profile. */
function refuseTwice() {
  if (!fs.existsSync(RUNNING)) return;
  const { pid, where } = /** @type {{pid: number, where: string}} */ (
    JSON.parse(fs.readFileSync(RUNNING, 'utf8'))
  );
  try {
    process.kill(pid, 0);
  } catch {
    return;
  }
  throw new SetupError(
    `npm start is already running (pid ${pid}): ${where}. Use that one, or stop it first.`,
  );
}

async function start() {
  refuseTwice();
  if (flags.fresh) fs.rmSync(HOME, { recursive: true, force: true });
  const { vsix, dist } = await buildExtension();
  const code = findCode();
  const app = code === undefined ? await codeServerApp() : appRootOf(code);
  const play = await preparePlay(HOME, { memory: true, dist, ripgrep: ripgrepOf(app) });
  const { stage, env } = play;
  const note = (/** @type {string} */ where) =>
    fs.writeFileSync(RUNNING, JSON.stringify({ pid: process.pid, where }));
  const forget = () => fs.rmSync(RUNNING, { force: true });

  if (code !== undefined) {
    note('a window of VS Code');
    stopOnSignal(async () => forget());
    console.log(
      'Strata is running in your VS Code, with a profile of its own. Close its window to end the demo.',
    );
    const settings = { ...QUIET_SETTINGS, ...play.settings };
    await openDesktop(code, { home: path.join(HOME, 'code'), folder: stage.project, vsix, settings, env });
    forget();
    await play.model.close();
    return;
  }

  const words = path.join(stage.folder, 'login.json');
  fs.writeFileSync(words, JSON.stringify(LOGIN));
  const password = crypto.randomBytes(9).toString('base64url');
  const server = await startCodeServer({
    home: path.join(HOME, 'code'),
    files: {},
    settings: { ...play.settings, 'terminal.integrated.gpuAcceleration': 'auto' },
    vsix: [vsix],
    env,
    password,
    args: ['--i18n', words],
    ...(flags.port === undefined ? {} : { port: Number(flags.port) }),
  });
  const url = `${server.origin}/?folder=${encodeURI(stage.project)}`;
  note(url);
  stopOnSignal(async () => {
    console.log('\nStopping …');
    await server.stop();
    await play.model.close();
    forget();
  });
  console.log(`
Strata is running. Open this page in your browser:

  ${url}
  Password: ${password}

You will find a small project, a live Pi session and its memory, on a demo model of this machine: no account, no
network, no cost. What you do there is kept for next time; \`npm start -- --fresh\` begins anew. Ctrl+C stops it.
`);
}

/**
 * Ends in order at a signal: the programs first, then this one.
 * @param {() => Promise<void>} stop
 */
function stopOnSignal(stop) {
  for (const [signal, code] of /** @type {const} */ ([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ])) {
    // The one that is there kills at once what `stop` ends in order.
    process.removeAllListeners(signal);
    process.once(signal, () => void stop().finally(() => process.exit(signal === 'SIGINT' ? 0 : code)));
  }
}

try {
  if (flags.sabotage && !flags.check)
    throw new SetupError('--sabotage is for --check: npm start -- --check --sabotage');
  if (flags.check) {
    const { check } = await import('./check.mjs');
    process.exitCode = await check({ sabotage: flags.sabotage });
  } else await start();
} catch (error) {
  die(error);
}
