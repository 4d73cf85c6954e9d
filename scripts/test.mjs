// `npm test`: sets up what is missing, builds, runs the suites, prints one line for each, and `N passed, N failed`.
//   node scripts/test.mjs [NAME...] [--grep PATTERN]
// NAME is a suite or a group of them; all of them when none is named. Logs go to out/logs, screenshots to out/shots.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { SetupError, capture } from './install.mjs';
import { count, failuresOf } from './outcome.mjs';
import { ROOT, ensureModules } from './tools.mjs';

/** @typedef {import('./suites.mjs').Suite} Suite */

/**
 * Suites of one lane run one after the other, the lanes side by side. Only what is known to be stable beside each
 * other shares the machine: the suites with tight time limits run alone, after the rest.
 */
const LANES = [['unit'], ['electron', 'host']];
const ALONE = ['ui', 'pi', 'package', 'check'];

const LOGS = path.join(ROOT, 'out/logs');
const seconds = (/** @type {number} */ since) => `${((Date.now() - since) / 1000).toFixed(1)} s`;

/** @param {string} name @param {string} text */
function writeLog(name, text) {
  fs.mkdirSync(LOGS, { recursive: true });
  const file = path.join(LOGS, `${name.replace(/\W+/g, '-')}.log`);
  fs.writeFileSync(file, text);
  return path.relative(ROOT, file);
}

async function build() {
  fs.rmSync(path.join(ROOT, 'out/test'), { recursive: true, force: true }); // no test outlives its source
  const { code, output } = await capture(process.execPath, ['esbuild.mjs', '--tests'], { cwd: ROOT });
  if (code !== 0) throw new SetupError(`The build failed, so no test ran.\n${output}`);
}

/**
 * @param {Suite} suite
 * @param {number | undefined} floor undefined when only some of its tests were asked for
 * @param {string | undefined} grep
 */
async function runSuite(suite, floor, grep) {
  const started = Date.now();
  /** @type {import('./outcome.mjs').Outcome} */
  let outcome;
  try {
    outcome = await suite.run(grep);
  } catch (error) {
    // A suite that cannot even run is one failure; the others still run.
    const reason =
      error instanceof SetupError ? error.message : String(error instanceof Error ? error.stack : error);
    outcome = { tests: [], problems: [reason], log: reason };
  }
  if (floor !== undefined && outcome.tests.length < floor)
    outcome.problems.push(`it has ${outcome.tests.length} tests, and test/floor.json says at least ${floor}`);
  const log = writeLog(suite.name, outcome.log);
  const { passed, failed } = count(outcome);
  const verdict = failed === 0 ? `${passed} passed` : `${passed} passed, ${failed} FAILED`;
  console.log(`${suite.name.padEnd(12)} ${verdict.padEnd(28)} ${seconds(started).padStart(8)}`);
  if (failed > 0) console.log(`${failuresOf(outcome)}\n  (all of its output: ${log})`);
  return { passed, failed };
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { grep: { type: 'string' } },
  });
  await ensureModules();
  const { SUITES, readFloor } = await import('./suites.mjs');
  const known = (/** @type {Suite} */ suite) => [suite.name, suite.group];
  for (const name of positionals)
    if (!SUITES.some(suite => known(suite).includes(name)))
      throw new SetupError(
        `There is no suite "${name}": name one of ${[...new Set(SUITES.flatMap(known))].join(', ')}.`,
      );
  const chosen = SUITES.filter(
    suite => positionals.length === 0 || known(suite).some(name => positionals.includes(name)),
  );
  await Promise.all(chosen.map(suite => suite.prepare()));
  await build();

  const floor = readFloor();
  let passed = 0;
  let failed = 0;
  const runGroups = async (/** @type {readonly string[]} */ groups) => {
    for (const suite of groups.flatMap(group => chosen.filter(candidate => candidate.group === group))) {
      const result = await runSuite(
        suite,
        values.grep === undefined ? (floor[suite.name] ?? 1) : undefined,
        values.grep,
      );
      passed += result.passed;
      failed += result.failed;
    }
  };
  await Promise.all(LANES.map(runGroups));
  await runGroups(ALONE);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
}

try {
  await main();
} catch (error) {
  console.error(error instanceof SetupError ? error.message : error);
  console.log('0 passed, 1 failed');
  process.exit(1);
}
