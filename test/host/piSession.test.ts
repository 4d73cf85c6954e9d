import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { startModel, writeAgentDir } from '../../scripts/model/server.mjs';
import type { Parts } from '../../extension/vscode/handlers';
import { statusOf } from '../../extension/vscode/statusModel';
import { acceptQuickPick, configure, eventually, folder, lines, strata } from './window';

const agent = () => {
  const dir = process.env['PI_CODING_AGENT_DIR'];
  assert.ok(dir, 'the suite gives Pi a folder of its own');
  return dir;
};
const loader = () => path.join(agent(), 'extensions', 'strata.js');

describe('New Pi Session', function () {
  this.timeout(60_000);
  let parts: Parts;
  let model: Awaited<ReturnType<typeof startModel>>;
  let terminal: vscode.Terminal;

  before(async () => {
    parts = await strata();
    model = await startModel();
    writeAgentDir(agent(), model.port);
    // Where the profile is made by whoever launches, and so has no settings.
    const pi = process.env['STRATA_PI'];
    if (pi !== undefined) await configure('strata.piPath', pi);
    await configure('terminal.integrated.env.linux', {
      PI_OFFLINE: '1',
      PI_SKIP_VERSION_CHECK: '1',
      PI_TELEMETRY: '0',
    });
    await vscode.commands.executeCommand('strata.memory.focus');
  });
  after(async () => {
    for (const open of vscode.window.terminals) open.dispose();
    await model.close();
  });

  it('asks before it installs anything, and Esc starts nothing', async () => {
    const started = vscode.commands.executeCommand('strata.newSession');
    await new Promise(next => setTimeout(next, 1500));
    assert.ok(!fs.existsSync(loader()), 'nothing is installed while the question is open');
    await vscode.commands.executeCommand('workbench.action.closeQuickOpen');
    assert.equal(await started, undefined);
    assert.ok(!fs.existsSync(loader()));
    assert.equal(vscode.window.terminals.length, 0);
  });

  it('installs once it may, and starts the real Pi in the editor area, not transient', async () => {
    const started = vscode.commands.executeCommand<vscode.Terminal | undefined>('strata.newSession');
    terminal = await eventually(
      'a terminal',
      async () => {
        await acceptQuickPick();
        return vscode.window.terminals[0];
      },
      30_000,
    );
    await started;
    assert.ok(fs.existsSync(loader()));
    const options = terminal.creationOptions as vscode.TerminalOptions;
    assert.equal(options.isTransient, false);
    assert.equal(options.location, vscode.TerminalLocation.Editor);
    assert.deepEqual(options.env, {}, "the environment is the user's own");
    await eventually('a terminal tab in the editor area', () =>
      vscode.window.tabGroups.all.some(group =>
        group.tabs.some(tab => tab.input instanceof vscode.TabInputTerminal),
      ),
    );
  });

  it('the session is served by this window as soon as Pi is up', async () => {
    const session = await eventually('a served session', () => parts.host.sessions[0], 40_000);
    assert.equal(session.identity.cwd, folder());
    await eventually('Memory is about it', () => parts.memory.subject?.archive === session.id);
  });

  it('each finished message becomes a line, and its original opens', async () => {
    terminal.sendText('say one ;; !say The first answer.', false);
    await new Promise(next => setTimeout(next, 300));
    terminal.sendText('\r', false);
    await eventually('two lines', async () => (await lines(parts)).length === 2, 30_000);
    const rows = await lines(parts);
    assert.match(rows[0]?.row.label ?? '', /^user: say one/);
    assert.equal(rows[1]?.row.label, 'talk: The first answer.');
    await vscode.commands.executeCommand('strata.openOriginal', rows[1]);
    assert.equal(vscode.window.activeTextEditor?.document.getText(), 'The first answer.');
  });

  it('the second request carries the view, which opens as it was sent', async () => {
    terminal.sendText('say two ;; !say The second answer.', false);
    await new Promise(next => setTimeout(next, 300));
    terminal.sendText('\r', false);
    await eventually('four lines', async () => (await lines(parts)).length === 4, 30_000);
    const request = model.requests.filter(r => !r.compactor).at(-1);
    assert.ok(request);
    await vscode.commands.executeCommand('strata.memory.focus');
    await vscode.commands.executeCommand('strata.openView');
    const editor = vscode.window.activeTextEditor;
    assert.equal(editor?.document.uri.scheme, 'strata');
    const text = editor.document.getText();
    assert.match(text, /^<chat>\n0\+1\|user: say one/);
    assert.ok(
      JSON.stringify(request.body).includes(JSON.stringify(text.split('\n')[1]).slice(1, -1)),
      'the model got that line',
    );
  });

  it('the status bar says how much is remembered', async () => {
    const [session] = parts.host.sessions;
    assert.ok(session);
    const served = await parts.served();
    const status = statusOf(served);
    assert.match(status?.text ?? '', /^\$\(layers\) 4 · \d+ B$/);
    assert.equal(served[0]?.activity.state, 'ready');
  });

  it('Sessions shows it as running, with its records', async () => {
    await vscode.commands.executeCommand('strata.sessions.focus');
    const [session] = parts.host.sessions;
    const facts = await eventually('it is listed', () => parts.catalogue.session(session?.id ?? ''));
    assert.equal(facts.state, 'running');
    assert.equal(facts.records, 4);
  });

  it('after Pi has ended the session is closed, its memory stays, and it can be resumed', async () => {
    const id = parts.host.sessions[0]?.id ?? '';
    terminal.dispose();
    await eventually('it is served no longer', () => parts.host.sessions.length === 0, 20_000);
    const facts = await eventually('it is closed', async () => {
      await parts.catalogue.read();
      const found = parts.catalogue.session(id);
      return found?.state === 'closed' && found;
    });
    assert.equal((await lines(parts)).length, 4);
    const again = await vscode.commands.executeCommand<vscode.Terminal | undefined>(
      'strata.resumeSession',
      facts,
    );
    assert.ok(again);
    const args = (again.creationOptions as vscode.TerminalOptions).shellArgs;
    assert.deepEqual(args?.slice(-2), ['--session', facts.file]);
    await eventually('the same session is served again', () => parts.host.sessions[0]?.id === id, 40_000);
    again.dispose();
  });

  it('a strata.piPath that names nothing says so and starts nothing', async () => {
    const good = vscode.workspace.getConfiguration('strata').get<string>('piPath');
    await configure('strata.piPath', '/nowhere/pi');
    try {
      const before = vscode.window.terminals.length;
      const started = vscode.commands.executeCommand('strata.newSession');
      await new Promise(next => setTimeout(next, 1500));
      await vscode.commands.executeCommand('notifications.clearAll');
      assert.equal(await started, undefined);
      assert.equal(vscode.window.terminals.length, before);
    } finally {
      await configure('strata.piPath', good);
    }
  });
});
