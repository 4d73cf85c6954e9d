// A reporter of mocha that prints as usual and keeps what happened in the file that STRATA_RESULT names, if any. The
// runner believes this file alone: an exit code of 0 also comes from a process that ended before its tests did.
const fs = require('node:fs');
const Mocha = require('mocha');

/** @typedef {{title: string, state: 'passed' | 'failed' | 'skipped', ms?: number, error?: string}} Test */
/** @typedef {{state: 'running' | 'finished', node: string, tests: Test[], unhandled: string[]}} Result */

class Recorder extends Mocha.reporters.Spec {
  /**
   * @param {Mocha.Runner} runner
   * @param {Mocha.MochaOptions} options
   */
  constructor(runner, options) {
    super(runner, options);
    const file = process.env.STRATA_RESULT;
    if (file === undefined) return;
    /** @type {Result} */
    const result = { state: 'running', node: process.versions.node, tests: [], unhandled: [] };
    const save = () => fs.writeFileSync(file, JSON.stringify(result));
    const add = (/** @type {Test} */ test) => {
      result.tests.push(test);
      save();
    };
    save();
    process.on('unhandledRejection', reason => {
      result.unhandled.push(String(reason instanceof Error ? reason.stack : reason));
      save();
    });
    runner.on('pass', test => add({ title: test.fullTitle(), state: 'passed', ms: test.duration ?? 0 }));
    runner.on('pending', test => add({ title: test.fullTitle(), state: 'skipped' }));
    runner.on('fail', (test, error) =>
      add({ title: test.fullTitle(), state: 'failed', error: String(error?.stack ?? error) }),
    );
    runner.on('end', () => {
      result.state = 'finished';
      save();
    });
  }
}

module.exports = Recorder;
