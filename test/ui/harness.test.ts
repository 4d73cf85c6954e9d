import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { CODE_SERVER_VERSIONS, ensureCodeServer } from '../../scripts/tools.mjs';
import { withWorkbench } from '../../scripts/workbench.mjs';
import { eventually, notification, ready, runCommand } from '../../scripts/workbench-ui.mjs';

/** An extension that leaves the id of its process in a file, and says hello. */
function probeExtension(folder: string): { readonly folder: string; readonly pidFile: string } {
  const pidFile = path.join(folder, 'pid');
  const manifest = {
    name: 'probe',
    publisher: 'strata',
    version: '0.0.1',
    engines: { vscode: '^1.100.0' },
    main: './probe.js',
    activationEvents: ['onStartupFinished'],
    contributes: { commands: [{ command: 'probe.hello', title: 'Hello', category: 'Probe' }] },
  };
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
  fs.writeFileSync(
    path.join(folder, 'probe.js'),
    `const vscode = require('vscode');
    exports.activate = context => {
      require('node:fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));
      context.subscriptions.push(vscode.commands.registerCommand('probe.hello', () => void vscode.window.showInformationMessage('Hello from the probe')));
    };`,
  );
  return { folder, pidFile };
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('the workbench the tests drive', () => {
  let temporary: string;
  beforeEach(() => {
    temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'strata-probe-'));
  });
  afterEach(() => fs.rmSync(temporary, { recursive: true }));

  for (const version of CODE_SERVER_VERSIONS) {
    it(`closing the window of ${version} ends its extension host`, async () => {
      await ensureCodeServer(version);
      const probe = probeExtension(temporary);
      let server = 0;
      await withWorkbench(
        { version, dev: [probe.folder] },
        async ({ page, close, refused, server: { pid } }) => {
          server = pid;
          await ready(page);
          await runCommand(page, 'Probe: Hello');
          await notification(page, 'Hello from the probe').waitFor();
          const host = Number(fs.readFileSync(probe.pidFile, 'utf8'));
          assert.ok(runs(host), 'the host runs while the window is open');
          await close();
          await eventually('the host has ended', () => !runs(host), 10_000);
          assert.ok(runs(server), 'the server outlives a window');
          assert.deepEqual(refused, [], 'nothing beyond this machine was asked for');
        },
      );
      assert.ok(!runs(server), 'the server ends with the test');
    });
  }

  it('a test that throws leaves nothing running', async () => {
    const probe = probeExtension(temporary);
    const pids: number[] = [];
    await assert.rejects(
      withWorkbench({ dev: [probe.folder] }, async ({ server }) => {
        await eventually('the host has started', () => fs.existsSync(probe.pidFile), 60_000);
        pids.push(server.pid, Number(fs.readFileSync(probe.pidFile, 'utf8')));
        assert.ok(pids.every(runs));
        throw new Error('as a failing test does');
      }),
      /as a failing test does/,
    );
    assert.equal(pids.length, 2);
    await eventually('all of it has ended', () => !pids.some(runs), 10_000);
  });
});
