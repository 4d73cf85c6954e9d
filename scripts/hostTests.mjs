// Runs mocha inside the real extension host of a VS Code.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import util from 'node:util';
import { startCodeServer } from './codeServer.mjs';
import { readOutcome } from './outcome.mjs';
import { ROOT, ensurePiProgram } from './tools.mjs';
import { openWorkbench } from './workbench.mjs';
import { SHOTS } from './workbench-ui.mjs';

/** @typedef {import('./outcome.mjs').Outcome} Outcome */

/** The file that VS Code loads in its host. */
export const HOST_ENTRY = path.join(ROOT, 'scripts/hostEntry.cjs');

/**
 * @param {string} folder below out/test
 * @returns {string[]} the built test files in it
 */
export function builtTests(folder) {
  const at = path.join(ROOT, 'out/test', folder);
  if (!fs.existsSync(at)) return [];
  return fs
    .readdirSync(at, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.test.cjs'))
    .sort()
    .map(name => path.join(at, name));
}

/**
 * @param {object} options
 * @param {import('./tools.mjs').CodeServerVersion} options.version
 * @param {readonly string[]} options.files the built test files
 * @param {string} [options.dev] the folder of the extension under test; default: this checkout
 * @param {readonly string[]} [options.vsix] extensions to install
 * @param {NodeJS.ProcessEnv} [options.env] for the host
 * @param {string} [options.grep]
 * @param {number} [options.timeout] milliseconds for all of it
 * @returns {Promise<Outcome>}
 */
export async function runHostTests({
  version,
  files,
  dev = ROOT,
  vsix = [],
  env = {},
  grep,
  timeout = 240_000,
}) {
  const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'strata-host-'));
  const result = path.join(temporary, 'result.json');
  const agentDir = path.join(temporary, 'agent');
  fs.mkdirSync(agentDir);
  const piPath = await ensurePiProgram();
  /** @type {string[]} */
  const printed = [];
  /** @type {string[]} */
  const hostSaid = [];
  /** @type {string[]} */
  const problems = [];
  let server, workbench;
  let log = '';
  try {
    server = await startCodeServer({
      version,
      vsix,
      settings: { 'strata.piPath': piPath },
      env: {
        PI_CODING_AGENT_DIR: agentDir,
        ...env,
        STRATA_RESULT: result,
        STRATA_MARK_OUTPUT: '1',
        STRATA_TESTS: JSON.stringify(files),
        ...(grep === undefined ? {} : { STRATA_GREP: grep }),
      },
    });
    /** @type {(how: 'ended' | 'late') => void} */
    let end = () => undefined;
    const ended = new Promise(done => {
      end = done;
    });
    workbench = await openWorkbench(server, {
      dev: [dev],
      tests: HOST_ENTRY,
      onExit: () => end('ended'),
      onLog: (type, args) => {
        const text = util.format(...args);
        if (text.startsWith('@test@')) printed.push(text.slice('@test@'.length));
        else hostSaid.push(`${type}: ${text}`);
      },
    });
    const timer = setTimeout(() => end('late'), timeout);
    const how = await ended;
    clearTimeout(timer);
    if (how === 'late') {
      problems.push(`it did not end within ${timeout / 1000} s; the screen is in out/shots`);
      fs.mkdirSync(SHOTS, { recursive: true });
      const shot = path.join(SHOTS, `host-${version}-late.png`);
      await workbench.page.screenshot({ path: shot, timeout: 5000 }).catch(() => undefined);
    }
  } finally {
    log = [
      ...['--- the server', server?.log() ?? ''],
      ...['--- the page', ...(workbench?.errors ?? [])],
      ...['--- the log of Strata', server?.extensionLog() ?? ''],
      ...['--- the tests', ...printed],
      ...['--- the extension host', ...hostSaid],
    ].join('\n');
    await workbench?.close().catch(() => undefined);
    await server?.stop();
  }
  problems.push(...ownRejections(result, [dev, path.join(server.home, 'extensions')]));
  const outcome = readOutcome(result, log, problems);
  fs.rmSync(temporary, { recursive: true, force: true });
  return outcome;
}

/**
 * Promises that nobody caught, of the extension under test: VS Code's own extensions have some too.
 * @param {string} result
 * @param {readonly string[]} folders where the extension's code lies
 * @returns {string[]}
 */
function ownRejections(result, folders) {
  if (!fs.existsSync(result)) return [];
  const { unhandled } = /** @type {{unhandled: string[]}} */ (JSON.parse(fs.readFileSync(result, 'utf8')));
  return [...new Set(unhandled)]
    .filter(stack => folders.some(folder => stack.includes(folder + path.sep)))
    .map(stack => `a promise was rejected and nobody caught it: ${stack}`);
}
