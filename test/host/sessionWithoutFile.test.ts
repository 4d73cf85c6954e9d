import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { startModel, writeAgentDir } from '../../scripts/model/server.mjs';
import type { Parts } from '../../extension/vscode/handlers';
import { PiRpc } from '../support/piRpc';
import { eventually, folder, lines, strata } from './window';

/** Files below these folders that hold the text, and how many were read. */
function search(
  folders: readonly string[],
  text: string,
): { readonly hits: string[]; readonly read: number } {
  const hits: string[] = [];
  let read = 0;
  for (const root of folders)
    for (const name of fs.readdirSync(root, { recursive: true, encoding: 'utf8' })) {
      const file = path.join(root, name);
      // What comes and goes while it is read is looked at in the next pass.
      try {
        if (!fs.lstatSync(file).isFile()) continue;
        read++;
        if (name.includes(text) || fs.readFileSync(file).includes(text)) hits.push(file);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    }
  return { hits, read };
}

describe('A Pi session without a file', function () {
  this.timeout(90_000);
  let parts: Parts;
  let model: Awaited<ReturnType<typeof startModel>>;
  before(async () => {
    parts = await strata();
    model = await startModel();
    const agent = process.env['PI_CODING_AGENT_DIR'] ?? assert.fail();
    writeAgentDir(agent, model.port);
    await parts.installer.install();
  });
  after(() => model.close());

  it('is shown in Memory, and a word of it is found nowhere in HOME, the agent folder or VS Code’s user data', async () => {
    const home = process.env['HOME'] ?? assert.fail();
    const agent = process.env['PI_CODING_AGENT_DIR'] ?? assert.fail();
    const word = `canary-${randomBytes(8).toString('hex')}`;
    const program = vscode.workspace.getConfiguration('strata').get<string>('piPath') ?? assert.fail();
    const env = { ...process.env, PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1', PI_TELEMETRY: '0' };
    const pi = new PiRpc(
      spawn(program, ['--mode', 'rpc', '--no-session'], {
        cwd: folder(),
        env,
        stdio: ['pipe', 'pipe', 'pipe'],
      }),
    );
    try {
      await pi.prompt(`${word} ;; !say yes, ${word}`);
      await pi.prompt('second ;; !say two');
      assert.ok(
        model.requests.some(request => JSON.stringify(request.body).includes(`0+1|user: ${word}`)),
        'the view carried it',
      );
      const session = await eventually('it is served here', () =>
        parts.host.sessions.find(one => one.identity.sessionFile === undefined),
      );
      assert.equal(session.dir, undefined);
      await parts.selection.choose(session.id as never);
      parts.settle();
      await vscode.commands.executeCommand('strata.memory.focus');
      const rows = await eventually('its lines', async () => {
        const all = await lines(parts);
        return all.some(row => row.row.label.includes(word)) && all;
      });
      await vscode.commands.executeCommand('strata.openOriginal', rows[0]);
      assert.match(vscode.window.activeTextEditor?.document.getText() ?? '', new RegExp(word));
      // The profile lies beside HOME; a word of this test's own in it proves that it is searched.
      const folders = [path.dirname(home), agent];
      fs.writeFileSync(path.join(path.dirname(home), 'profile', 'searched.txt'), 'searched');
      await new Promise(next => setTimeout(next, 3_000));
      assert.deepEqual(search(folders, word).hits, []);
      assert.ok(search(folders, 'searched').hits.some(file => file.endsWith('searched.txt')));
      await pi.close();
      await eventually('it is gone', () => parts.host.sessions.every(one => one.id !== session.id));
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      await new Promise(next => setTimeout(next, 2_000));
      assert.deepEqual(search(folders, word).hits, []);
    } finally {
      await pi.close();
    }
  });
});
