// What became of a suite, judged by the file that recorder.cjs wrote.
import fs from 'node:fs';

/** @typedef {{title: string, state: 'passed' | 'failed' | 'skipped', ms?: number, error?: string}} Test */

/**
 * @typedef {object} Outcome
 * @property {Test[]} tests
 * @property {string[]} problems reasons beyond failed tests why the suite as a whole failed; empty when it didn't
 * @property {string} log all that was printed
 */

/**
 * @param {string} file the result file
 * @param {string} log
 * @param {string[]} problems what the runner saw itself: a crash, a time-out
 * @returns {Outcome}
 */
export function readOutcome(file, log, problems) {
  /** @type {{state?: string, tests?: Test[]}} */
  let result;
  try {
    result = JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return { tests: [], log, problems: ['it ended before its first test began', ...problems] };
  }
  const tests = result.tests ?? [];
  const all = [...problems];
  if (result.state !== 'finished')
    all.unshift(`it ended before its tests did; the last that finished: ${tests.at(-1)?.title ?? 'none'}`);
  else if (tests.length === 0) all.unshift('no test ran');
  return { tests, log, problems: all };
}

/** @param {Outcome} outcome */
export function count({ tests, problems }) {
  const passed = tests.filter(test => test.state === 'passed').length;
  // A skipped test proves nothing.
  return { passed, failed: tests.length - passed + problems.length };
}

/**
 * Everything a person needs to see of a suite that failed.
 * @param {Outcome} outcome
 * @returns {string} empty when nothing failed
 */
export function failuresOf({ tests, problems, log }) {
  const lines = problems.map(problem => `  ! ${problem}`);
  for (const { title, state, error } of tests)
    if (state !== 'passed')
      lines.push(`  x ${title}${state === 'skipped' ? ' (skipped)' : ''}`, ...indent(error ?? ''));
  // A suite that broke down says why in its last lines, if anywhere.
  if (problems.length > 0 && log !== '')
    lines.push('  the end of its output:', ...indent(log.trimEnd().split('\n').slice(-40).join('\n')));
  return lines.join('\n');
}

/** @param {string} text @returns {string[]} */
const indent = text => (text === '' ? [] : text.split('\n').map(line => `      ${line}`));
