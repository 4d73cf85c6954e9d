import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { findCode, openDesktop } from '../../../scripts/demo/desktop.mjs';

describe('the demo in the user’s own VS Code', () => {
  let dir: string;
  const original = { PATH: process.env['PATH'], STRATA_EDITOR: process.env['STRATA_EDITOR'] };
  beforeEach(() => {
    dir = fs.mkdtempSync(path.join(os.tmpdir(), 'strata-desktop-'));
  });
  afterEach(() => {
    for (const [key, value] of Object.entries(original))
      if (value === undefined) delete process.env[key];
      else process.env[key] = value;
    fs.rmSync(dir, { recursive: true, force: true });
  });

  /** A `code` that writes down how it was called. */
  function standIn(folder: string): string {
    const bin = path.join(dir, folder);
    fs.mkdirSync(bin, { recursive: true });
    const file = path.join(bin, 'code');
    const note = `printf '%s\\n' "$STRATA_OPEN_SESSION" "$@" END >> '${dir}/calls'`;
    fs.writeFileSync(file, `#!/bin/sh\n${note}\n`, { mode: 0o755 });
    return file;
  }

  // The stand-ins are shell scripts.
  const onPosix = process.platform === 'win32' ? () => undefined : it;

  onPosix('takes the code on PATH, but not the helper of a VS Code terminal', () => {
    delete process.env['STRATA_EDITOR'];
    const [helper, real] = [standIn('remote-cli'), standIn('bin')];
    process.env['PATH'] = [helper, real].map(file => path.dirname(file)).join(path.delimiter);
    assert.equal(findCode(), real);
    process.env['PATH'] = path.dirname(helper);
    assert.equal(findCode(), undefined);
  });

  it('leaves the code on PATH alone when asked for the browser', () => {
    process.env['PATH'] = path.dirname(standIn('bin'));
    process.env['STRATA_EDITOR'] = 'code-server';
    assert.equal(findCode(), undefined);
  });

  onPosix('installs and opens with a profile of its own, so the user’s is not touched', async () => {
    const code = standIn('bin');
    const home = path.join(dir, 'home');
    await openDesktop(code, {
      home,
      folder: '/some/folder',
      vsix: '/some/strata.vsix',
      settings: { 'strata.piPath': '/pi' },
      env: { STRATA_OPEN_SESSION: '/session.jsonl' },
    });
    const calls = fs.readFileSync(path.join(dir, 'calls'), 'utf8').trim().split('\nEND').slice(0, 2);
    const [install = [], open = []] = calls.map(call => call.trim().split('\n'));
    for (const call of [install, open]) {
      assert.equal(call[0], '/session.jsonl');
      assert.equal(call[call.indexOf('--user-data-dir') + 1], path.join(home, 'profile'));
      assert.equal(call[call.indexOf('--extensions-dir') + 1], path.join(home, 'extensions'));
    }
    assert.equal(install[install.indexOf('--install-extension') + 1], '/some/strata.vsix');
    assert.ok(open.includes('--disable-workspace-trust') && open.includes('--wait'));
    assert.equal(open.at(-1), '/some/folder');
    const settings = JSON.parse(
      fs.readFileSync(path.join(home, 'profile/User/settings.json'), 'utf8'),
    ) as Record<string, unknown>;
    assert.equal(settings['strata.piPath'], '/pi');
  });
});
