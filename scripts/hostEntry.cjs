// VS Code calls `run` inside its extension host: mocha, with the test files that STRATA_TESTS lists (JSON), or all that
// are built. The results go where recorder.cjs says. STRATA_GREP runs only tests whose title it matches.
const fs = require('node:fs');
const path = require('node:path');
const util = require('node:util');
const v8 = require('node:v8');

exports.run = async () => {
  process.setSourceMapsEnabled(true);
  if (process.env.STRATA_MARK_OUTPUT) printThroughOneChannel();
  // Mocha keeps the console it finds.
  const Mocha = require('mocha');
  const Recorder = require('./recorder.cjs');
  const named = process.env.STRATA_TESTS;
  const files = named === undefined ? builtTests() : /** @type {string[]} */ (JSON.parse(named));
  const grep = process.env.STRATA_GREP;
  const mocha = new Mocha({
    ui: 'bdd',
    color: false,
    reporter: Recorder,
    timeout: 20_000,
    forbidOnly: true,
    ...(grep ? { grep: new RegExp(grep) } : {}),
  });
  for (const file of files) mocha.addFile(file);
  await mocha.loadFilesAsync();
  const failures = await new Promise(done => mocha.run(done));
  // The host ends without writing its coverage.
  if (process.env.NODE_V8_COVERAGE) v8.takeCoverage();
  if (failures > 0) throw new Error(`${failures} failed`);
};

function builtTests() {
  const folder = path.join(__dirname, '../out/test/host');
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter(name => name.endsWith('.test.cjs')).map(name => path.join(folder, name));
}

/**
 * Marks what the tests print, so that the runner can tell it from what VS Code says. The host's console ignores
 * assignments to its functions, and sends errors twice: everything goes out through `log`.
 */
function printThroughOneChannel() {
  const out = console.log.bind(console);
  for (const name of ['log', 'info', 'warn', 'error', 'debug']) {
    const marked = (/** @type {unknown[]} */ ...args) => out(`@test@${util.format(...args)}`);
    Object.defineProperty(console, name, { configurable: true, get: () => marked, set() {} });
  }
}
