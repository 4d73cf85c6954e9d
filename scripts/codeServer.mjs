// The real VS Code as a server: code-server on 127.0.0.1 with a profile of its own.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { must } from './install.mjs';
import { atExit, endFamily, killFamily } from './processes.mjs';
import { ensureCodeServer } from './tools.mjs';

/** @typedef {import('./tools.mjs').CodeServerVersion} CodeServerVersion */
/** @typedef {Record<string, unknown>} Settings */

/** Quiet, offline, and without what would lie over the things a test or a first look is about. */
export const QUIET_SETTINGS = {
  'chat.disableAIFeatures': true,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'files.simpleDialog.enable': true,
  'git.enabled': false,
  'git.openRepositoryInParentFolders': 'never',
  'json.schemaDownload.enable': false,
  'npm.fetchOnlinePackageInfo': false,
  // Ports of whatever else runs on this machine are no matter of ours.
  'remote.autoForwardPorts': false,
  'security.workspace.trust.enabled': false,
  'telemetry.telemetryLevel': 'off',
  // Only so does a terminal's text stand in the page.
  'terminal.integrated.gpuAcceleration': 'off',
  'update.mode': 'none',
  'window.confirmBeforeClose': 'never',
  'workbench.enableExperiments': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
};

/** Settings of ours with the scope `machine`. */
const MACHINE_SETTINGS = new Set(['strata.piPath', 'strata.archiveRoot']);

const sleep = (/** @type {number} */ ms) => new Promise(done => setTimeout(done, ms));

/**
 * @typedef {object} ServerOptions
 * @property {CodeServerVersion} [version] default: the newest
 * @property {string} [home] where its HOME, profile and extensions go; default: a temporary folder, removed at `stop`
 * @property {Record<string, string>} [files] what the workspace folder holds, by relative path
 * @property {Settings} [settings] of the user, beside the quiet ones
 * @property {readonly string[]} [vsix] to be installed before the start
 * @property {NodeJS.ProcessEnv} [env] reaches the extension host and its terminals, but for PATH: that is a login shell's
 * @property {string} [password] default: none is asked for
 * @property {boolean} [restricted] the window does not trust its folder; default: trust is not asked for
 * @property {number} [port] default: a free one
 * @property {readonly string[]} [args] more options of code-server
 */

/**
 * @typedef {object} CodeServer
 * @property {CodeServerVersion} version
 * @property {string} home
 * @property {string} folder the workspace
 * @property {string} origin the address of the workbench
 * @property {number} port
 * @property {number} pid
 * @property {string | undefined} password
 * @property {() => string} log what the server printed
 * @property {() => string} extensionLog what Strata wrote into its output channel, in all windows
 * @property {() => Promise<void>} stop ends it with all that runs in it; can be called again
 */

/**
 * Starts code-server and waits until it answers. It ends with this process at the latest.
 * @param {ServerOptions} [options]
 * @returns {Promise<CodeServer>}
 */
export async function startCodeServer(options = {}) {
  const version = options.version ?? '4.139.1';
  const { node, entry } = await ensureCodeServer(version);
  const home = options.home ?? fs.mkdtempSync(path.join(os.tmpdir(), 'strata-code-'));
  const at = (/** @type {string[]} */ ...parts) => path.join(home, ...parts);
  for (const folder of ['home', 'profile/User', 'profile/Machine', 'extensions', 'workspace'])
    fs.mkdirSync(at(folder), { recursive: true });
  const files = options.files ?? { 'README.md': '# A folder\n' };
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(at('workspace', name)), { recursive: true });
    fs.writeFileSync(at('workspace', name), text);
  }
  fs.writeFileSync(at('config.yaml'), 'auth: none\ncert: false\n');
  const trust = options.restricted
    ? { 'security.workspace.trust.enabled': true, 'security.workspace.trust.startupPrompt': 'never' }
    : {};
  fs.writeFileSync(
    at('profile/User/settings.json'),
    JSON.stringify({ ...QUIET_SETTINGS, ...trust, ...options.settings }, null, 2),
  );
  // The window is a remote one, and there a user's settings don't count where a setting belongs to the machine.
  const machine = Object.entries(options.settings ?? {}).filter(([key]) => MACHINE_SETTINGS.has(key));
  fs.writeFileSync(at('profile/Machine/settings.json'), JSON.stringify(Object.fromEntries(machine), null, 2));
  const env = serverEnv(at('home'), options.env, options.password);
  const common = [
    entry,
    '--config',
    at('config.yaml'),
    '--user-data-dir',
    at('profile'),
    '--extensions-dir',
    at('extensions'),
  ];
  for (const file of options.vsix ?? [])
    await must(
      `the extension ${path.basename(file)}`,
      node,
      [...common, '--install-extension', path.resolve(file), '--force'],
      {
        env,
        advice: 'See what code-server says about it',
      },
    );

  const port = options.port ?? (await freePort());
  const output = fs.openSync(at('server.log'), 'a');
  const args = [
    ...common,
    ...['--bind-addr', `127.0.0.1:${port}`, '--auth', options.password === undefined ? 'none' : 'password'],
    ...['--disable-telemetry', '--disable-update-check'],
    ...(options.restricted ? [] : ['--disable-workspace-trust']),
    ...['--disable-getting-started-override', '--disable-proxy', '--ignore-last-opened'],
    // A host whose window crashed outlives it by three hours otherwise, with its locks. Terminals have as long to be
    // found again by a reloaded window, which takes many seconds on a busy machine. Older versions don't know it.
    ...(version === '4.139.1' ? ['--reconnection-grace-time', '60'] : []),
    ...(options.args ?? []),
  ];
  const child = spawn(node, args, { cwd: home, env, stdio: ['ignore', output, output], detached: true });
  fs.closeSync(output);
  let gone = false;
  const exited = new Promise(done => {
    child.on('exit', () => {
      gone = true;
      done(undefined);
    });
  });
  child.on('error', () => {
    gone = true;
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${node} could not be started`);
  const removeHome = () => {
    if (options.home === undefined) fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  };
  const forget = atExit(() => {
    killFamily(pid);
    removeHome();
  });
  const log = () => fs.readFileSync(at('server.log'), 'utf8');
  const extensionLog = () =>
    filesBelow(at('profile/logs'))
      .filter(file => /\bstrata\.strata\b.*\.log$/.test(file))
      .map(file => fs.readFileSync(file, 'utf8'))
      .join('');
  let stopped = false;
  const stop = async () => {
    if (stopped) return;
    stopped = true;
    if (!gone) {
      await endFamily(pid, 3000);
      await exited;
    }
    removeHome();
    forget();
  };
  for (const end = Date.now() + 60_000; !(await healthy(port)); await sleep(100))
    if (gone || Date.now() > end) {
      const text = log().slice(-3000);
      await stop();
      throw new Error(`code-server ${version} did not start:\n${text}`);
    }
  return {
    version,
    home,
    folder: at('workspace'),
    origin: `http://127.0.0.1:${port}`,
    port,
    pid,
    password: options.password,
    log,
    extensionLog,
    stop,
  };
}

/**
 * @param {string} home
 * @param {NodeJS.ProcessEnv} [extra]
 * @param {string} [password]
 */
function serverEnv(home, extra, password) {
  /** @type {NodeJS.ProcessEnv} */
  const env = {};
  // What a surrounding VS Code or npm said about itself doesn't hold in here.
  for (const [key, value] of Object.entries(process.env))
    if (!/^(VSCODE_|npm_|ELECTRON_)/.test(key)) env[key] = value;
  return {
    ...env,
    HOME: home,
    XDG_CONFIG_HOME: path.join(home, '.config'),
    XDG_DATA_HOME: path.join(home, '.local/share'),
    XDG_CACHE_HOME: path.join(home, '.cache'),
    EXTENSIONS_GALLERY: '{}', // no marketplace, no request
    ...(password === undefined ? {} : { PASSWORD: password }),
    ...extra,
  };
}

/** @param {string} folder @returns {string[]} none when it doesn't exist */
function filesBelow(folder) {
  if (!fs.existsSync(folder)) return [];
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter(entry => entry.isFile()).map(entry => path.join(entry.parentPath, entry.name));
}

/** @returns {Promise<number>} a port of 127.0.0.1 that was free a moment ago */
function freePort() {
  return new Promise((done, fail) => {
    const server = net.createServer();
    server.on('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** @param {number} port @returns {Promise<boolean>} */
function healthy(port) {
  return new Promise(done => {
    const request = http.get({ host: '127.0.0.1', port, path: '/healthz', timeout: 2000 }, response => {
      response.resume();
      done(response.statusCode === 200);
    });
    request.on('error', () => done(false));
    request.on('timeout', () => request.destroy());
  });
}
