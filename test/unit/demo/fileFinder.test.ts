import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const FINDER = path.resolve('scripts/demo/fd.mjs');

describe('the file finder of the demo', () => {
  let dir: string;
  beforeEach(() => {
    dir = fs.mkdtempSync(path.join(os.tmpdir(), 'strata-finder-'));
    for (const file of ['src/Timer.js', 'src/teas.js', '.git/config', 'node_modules/x/teas.js', '.env'])
      fs.mkdirSync(path.join(dir, path.dirname(file)), { recursive: true });
    for (const file of ['src/Timer.js', 'src/teas.js', '.git/config', 'node_modules/x/teas.js', '.env'])
      fs.writeFileSync(path.join(dir, file), '');
  });
  afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

  const find = (...args: string[]) =>
    execFileSync(
      process.execPath,
      [FINDER, '--base-directory', dir, '--hidden', '--exclude', '.git', ...args],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
    )
      .split('\n')
      .filter(Boolean)
      .sort();

  it('lists files and folders, without packages and what is excluded', () => {
    assert.deepEqual(find('--type', 'f', '--type', 'd'), ['.env', 'src/', 'src/Timer.js', 'src/teas.js']);
  });
  it('tells capitals apart only when the query has one', () => {
    assert.deepEqual(find('timer'), ['src/Timer.js']);
    assert.deepEqual(find('Teas'), []);
  });
  it('stops at the limits it is given', () => {
    assert.equal(find('--max-results', '2').length, 2);
    assert.deepEqual(find('--max-depth', '1', '--type', 'd'), ['src/']);
  });
  it('refuses what it does not understand, so that nobody takes a wrong answer for a right one', () => {
    assert.throws(() => find('--glob', '*.js'));
  });
});
