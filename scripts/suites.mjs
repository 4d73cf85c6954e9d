// The suites of `npm test`: what each needs, and how it runs.
import fs from 'node:fs';
import path from 'node:path';
import { builtTests, runHostTests } from './hostTests.mjs';
import { runMocha, runMochaSideBySide } from './mochaTests.mjs';
import { checkSuite } from './checkSuite.mjs';
import { ROOT, ensureChromium, ensureCodeServer, ensureNode, ensurePi, ensureTmux } from './tools.mjs';

/** @typedef {import('./outcome.mjs').Outcome} Outcome */

/**
 * @typedef {object} Suite
 * @property {string} name
 * @property {string} group what it is called on the command line, alone or with others
 * @property {() => Promise<unknown>} prepare installs what it needs
 * @property {(grep: string | undefined) => Promise<Outcome>} run
 */

const second = 1000;
const minute = 60 * second;

/** @param {import('./tools.mjs').CodeServerVersion} version @returns {Suite} */
const host = version => ({
  name: `host 1.${version.split('.')[1]}`,
  group: 'host',
  prepare: () => Promise.all([ensureCodeServer(version), ensureChromium(), ensureNode()]),
  run: grep => runHostTests({ version, files: builtTests('host'), grep, timeout: 5 * minute }),
});

/** @type {readonly Suite[]} */
export const SUITES = [
  {
    name: 'unit',
    group: 'unit',
    prepare: async () => undefined,
    run: grep =>
      runMocha({
        files: builtTests('unit'),
        grep,
        testTimeout: 20 * second,
        timeout: 8 * minute,
      }),
  },
  {
    name: 'pi',
    group: 'pi',
    prepare: () => Promise.all([ensureNode(), ensurePi(process.env.PI_VERSION), ensureTmux()]),
    run: grep =>
      runMochaSideBySide(2, {
        files: builtTests('pi'),
        grep,
        testTimeout: 2 * minute,
        timeout: 15 * minute,
      }),
  },
  host('4.139.1'),
  host('4.100.3'),
  {
    name: 'ui',
    group: 'ui',
    prepare: () => Promise.all([ensureCodeServer('4.139.1'), ensureChromium(), ensureNode()]),
    run: grep => runMocha({ files: builtTests('ui'), grep, testTimeout: 2 * minute, timeout: 15 * minute }),
  },
  {
    name: 'electron',
    group: 'electron',
    prepare: async () => undefined,
    run: grep => runMocha({ files: builtTests('electron'), grep, testTimeout: minute, timeout: 3 * minute }),
  },
  {
    name: 'package',
    group: 'package',
    prepare: () => Promise.all([ensureCodeServer('4.139.1'), ensureChromium(), ensureNode()]),
    run: grep =>
      runMocha({ files: builtTests('package'), grep, testTimeout: 2 * minute, timeout: 5 * minute }),
  },
  {
    name: 'check',
    group: 'check',
    prepare: () => Promise.all([ensureCodeServer('4.139.1'), ensureChromium(), ensureNode(), ensurePi()]),
    run: () => checkSuite(),
  },
];

/**
 * The fewest tests that each suite must have: a suite that silently lost some fails.
 * @returns {Record<string, number>} by suite name
 */
export function readFloor() {
  return JSON.parse(fs.readFileSync(path.join(ROOT, 'test/floor.json'), 'utf8'));
}
