import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const root = process.cwd();

describe('the host suite in a desktop VS Code', () => {
  let folder: string;
  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'strata-stand-in-'));
  });
  after(() => fs.rmSync(folder, { recursive: true }));

  function run(env: NodeJS.ProcessEnv): { code: number | null; output: string; lastLine: string } {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/electron.mjs', '--built'], {
      cwd: root,
      env: { ...process.env, VSCODE_PID: '1', ...env },
      encoding: 'utf8',
      timeout: 50_000,
    });
    return { code: status, output: stdout + stderr, lastLine: stdout.trimEnd().split('\n').at(-1) ?? '' };
  }

  function standIn(how: 'pass' | 'fail' | 'leave'): NodeJS.ProcessEnv {
    const program = path.join(folder, 'code');
    const script = path.join(root, 'out/test/electron/standIn.child.cjs');
    fs.writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`, { mode: 0o755 });
    return { VSCODE_EXECUTABLE: program, STAND_IN: how };
  }

  it('starts VS Code with the extension, the tests and a profile of its own', () => {
    const { code, output, lastLine } = run(standIn('pass'));
    assert.equal(lastLine, '1 passed, 0 failed', output);
    assert.equal(code, 0);
  });

  it('fails when a test in VS Code fails, and shows why', () => {
    const { code, output, lastLine } = run(standIn('fail'));
    assert.equal(lastLine, '0 passed, 1 failed', output);
    assert.match(output, /as asked/);
    assert.equal(code, 1);
  });

  it('fails when VS Code ends well but without a result', () => {
    const { code, output, lastLine } = run(standIn('leave'));
    assert.equal(lastLine, '0 passed, 1 failed', output);
    assert.match(output, /ended before its first test began/);
    assert.equal(code, 1);
  });

  it('fails and says what to do where VS Code can’t be downloaded', () => {
    // Nothing listens on the port of the proxy, and the cache holds no earlier download.
    const { code, output } = run({
      VSCODE_EXECUTABLE: '',
      npm_config_https_proxy: 'http://127.0.0.1:9',
      STRATA_CACHE: path.join(folder, 'cache'),
    });
    assert.match(
      output,
      /VS Code could not be downloaded \(.+\), so nothing was tested: .*VSCODE_EXECUTABLE/,
    );
    assert.equal(code, 1);
  });

  it('fails and says so when VSCODE_EXECUTABLE names nothing', () => {
    const { code, output } = run({ VSCODE_EXECUTABLE: path.join(folder, 'missing') });
    assert.match(output, /VSCODE_EXECUTABLE names .*missing, which doesn't exist/);
    assert.equal(code, 1);
  });
});
