// The suite `check`: what a user sees of `npm start -- --check`, and that it can fail.
import path from 'node:path';
import { runToEnd } from './processes.mjs';
import { ROOT } from './tools.mjs';

/** @typedef {import('./outcome.mjs').Outcome} Outcome */
/** @typedef {import('./outcome.mjs').Test} Test */

const TIMEOUT = 7 * 60_000;
const FIGURES = ['records', 'nodes', 'viewBytes', 'receipts', 'requests', 'rawHistoryBytes', 'sessions'];

/**
 * @param {readonly string[]} flags
 * @param {string} title
 * @param {(code: number | null, figures: Record<string, number>) => string | undefined} judge what is wrong, if anything
 * @returns {Promise<{test: Test, output: string}>}
 */
async function run(flags, title, judge) {
  const started = Date.now();
  const args = [path.join(ROOT, 'scripts/start.mjs'), '--check', ...flags];
  const ended = await runToEnd(process.execPath, args, { cwd: ROOT, env: process.env, timeout: TIMEOUT });
  const ms = Date.now() - started;
  const figures = readFigures(ended.output);
  const wrong = ended.late
    ? `it did not end within ${TIMEOUT / 1000} s`
    : typeof figures === 'string'
      ? figures
      : judge(ended.code, figures);
  if (wrong === undefined) return { test: { title, state: 'passed', ms }, output: ended.output };
  return { test: { title, state: 'failed', ms, error: `${wrong}\n${ended.output}` }, output: ended.output };
}

/**
 * @param {string} output
 * @returns {Record<string, number> | string} the figures of the last line, or why there are none
 */
function readFigures(output) {
  const last = output.trimEnd().split('\n').at(-1) ?? '';
  try {
    const figures = JSON.parse(last);
    const missing = FIGURES.filter(name => !Number.isSafeInteger(figures[name]));
    return missing.length > 0 ? `its last line lacks ${missing.join(', ')}: ${last}` : figures;
  } catch {
    return `its last line is no JSON: ${last}`;
  }
}

/** @returns {Promise<Outcome>} */
export async function checkSuite() {
  const sound = await run([], 'a demo session sends no raw history', (code, figures) => {
    if (code !== 0) return `exit code ${code}`;
    if (figures.rawHistoryBytes !== 0) return `${figures.rawHistoryBytes} bytes of raw history left`;
    const empty = FIGURES.filter(name => name !== 'rawHistoryBytes' && figures[name] === 0);
    return empty.length > 0 ? `nothing happened: ${empty.join(', ')} is 0` : undefined;
  });
  const sabotaged = await run(
    ['--sabotage'],
    'with memory off the same check fails and counts raw history',
    (code, figures) => {
      if (code !== 1) return `exit code ${code} instead of 1`;
      return figures.rawHistoryBytes === 0
        ? 'it counted no raw history, so it would not notice any'
        : undefined;
    },
  );
  return { tests: [sound.test, sabotaged.test], problems: [], log: `${sound.output}\n${sabotaged.output}` };
}
