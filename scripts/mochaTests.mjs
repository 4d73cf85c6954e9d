// Runs mocha in a process of its own, on this machine's Node.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readOutcome } from './outcome.mjs';
import { runToEnd } from './processes.mjs';
import { ROOT } from './tools.mjs';

/** @typedef {import('./outcome.mjs').Outcome} Outcome */

/** How long mocha may live on after its last test, in milliseconds. Something a test left open keeps it alive. */
const FAREWELL = 10_000;

/**
 * @param {object} options
 * @param {readonly string[]} options.files the built test files
 * @param {number} options.testTimeout milliseconds for one test
 * @param {number} options.timeout milliseconds for all of them
 * @param {NodeJS.ProcessEnv} [options.env]
 * @param {string | undefined} [options.grep]
 * @returns {Promise<Outcome>}
 */
export async function runMocha({ files, testTimeout, timeout, env = {}, grep }) {
  const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'strata-test-'));
  const result = path.join(temporary, 'result.json');
  const args = [
    ...['--enable-source-maps', path.join(ROOT, 'node_modules/mocha/bin/mocha.js')],
    ...['--no-config', '--no-package', '--forbid-only', '--timeout', String(testTimeout)],
    ...['--reporter', path.join(ROOT, 'scripts/recorder.cjs')],
    ...(grep === undefined ? [] : ['--grep', grep]),
    ...files,
  ];
  // Nobody's real sessions are near a test.
  const agentDir = path.join(temporary, 'agent');
  const fullEnv = { ...process.env, PI_CODING_AGENT_DIR: agentDir, ...env, STRATA_RESULT: result };
  const lingers = new AbortController();
  const watch = setInterval(() => {
    if (!isFinished(result)) return;
    clearInterval(watch);
    setTimeout(() => lingers.abort(), FAREWELL).unref();
  }, 500);
  const ended = await runToEnd(process.execPath, args, {
    cwd: ROOT,
    env: fullEnv,
    timeout,
    stop: lingers.signal,
  });
  clearInterval(watch);

  /** @type {string[]} */
  const problems = [];
  if (ended.late) problems.push(`it did not end within ${timeout / 1000} s`);
  else if (lingers.signal.aborted)
    problems.push('its tests ended, but something they left open kept it alive');
  const outcome = readOutcome(result, ended.output, problems);
  // Mocha's code is the number of failures; anything else is a crash that the result file can't know of.
  const failed = outcome.tests.filter(test => test.state === 'failed').length;
  if (problems.length === 0 && ended.code !== Math.min(failed, 255)) {
    const how = ended.signal ?? `exit code ${ended.code}`;
    outcome.problems.push(`mocha ended with ${how}`);
  }
  fs.rmSync(temporary, { recursive: true, force: true });
  return outcome;
}

/**
 * As `runMocha`, with the files dealt out to as many processes side by side: for suites that mostly wait for others.
 * @param {number} processes
 * @param {Parameters<typeof runMocha>[0]} options
 * @returns {Promise<Outcome>}
 */
export async function runMochaSideBySide(processes, options) {
  // What was asked for may stand in one of the shares only, and the others would fail for having no test.
  if (options.grep !== undefined) return runMocha(options);
  const shares = Array.from({ length: processes }, (_, n) =>
    options.files.filter((_file, index) => index % processes === n),
  );
  const outcomes = await Promise.all(shares.map(files => runMocha({ ...options, files })));
  return {
    tests: outcomes.flatMap(({ tests }) => tests),
    problems: outcomes.flatMap(({ problems }) => problems),
    log: outcomes.map(({ log }) => log).join('\n'),
  };
}

/** @param {string} result */
function isFinished(result) {
  try {
    return JSON.parse(fs.readFileSync(result, 'utf8')).state === 'finished';
  } catch {
    return false;
  }
}
