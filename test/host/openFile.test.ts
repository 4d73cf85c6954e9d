import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import type { Parts } from '../../extension/vscode/handlers';
import { originalOf, type LineNode } from '../../extension/vscode/trees/memoryTree';
import { isUnread } from '../../extension/vscode/sessionRows';
import { pathOfDocument } from '../../extension/vscode/strataUri';
import { writeAgentDir } from '../../scripts/model/server.mjs';
import { Door } from '../support/door';
import { snapshot } from '../support/snapshot';
import { eventually, folder, lines, strata, temporaryFolder } from './window';

const at = (second: number) => new Date(Date.UTC(2026, 10, 3, 12, 0, second)).toISOString();
const LONG = `A long reply.\n\n${'  indented, with tabs\tand ünïcödé 🙂\n'.repeat(80)}end`;

/** A session file of format 1: no versions, no entry ids. */
function formatOne(cwd: string): string {
  const user = (text: string, s: number) => ({
    type: 'message',
    timestamp: at(s),
    message: { role: 'user', content: text, timestamp: s },
  });
  const assistant = (text: string, s: number) => ({
    type: 'message',
    timestamp: at(s),
    message: { role: 'assistant', content: [{ type: 'text', text }], stopReason: 'stop', timestamp: s },
  });
  return [
    { type: 'session', id: 'host-test-format-1', timestamp: at(0), cwd },
    user('first question', 1),
    assistant(LONG, 2),
    user('second question', 3),
    assistant('short reply', 4),
  ]
    .map(entry => JSON.stringify(entry))
    .join('\n');
}

async function open(file: string): Promise<string> {
  const archive = await vscode.commands.executeCommand<string | undefined>(
    'strata.openSessionFile',
    vscode.Uri.file(file),
  );
  assert.ok(archive, 'the command returns the archive it made');
  return archive;
}

/** All rows of both views, made and drawn as VS Code does it: the lines of the Memory view come back. */
async function browse(parts: Parts): Promise<LineNode[]> {
  await vscode.commands.executeCommand('strata.sessions.focus');
  for (const session of parts.sessions.getChildren()) parts.sessions.getTreeItem(session);
  await vscode.commands.executeCommand('strata.memory.focus');
  const all: LineNode[] = [];
  const walk = async (below?: LineNode): Promise<void> => {
    for (const row of await lines(parts, below)) {
      parts.memory.getTreeItem(row);
      all.push(row);
      await walk(row);
    }
  };
  await walk();
  return all;
}

describe('Open Session File', () => {
  let parts: Parts;
  let dir: string;
  before(async () => {
    parts = await strata();
    dir = temporaryFolder();
    await vscode.commands.executeCommand('strata.memory.focus');
  });
  after(() => fs.rmSync(dir, { recursive: true, force: true }));

  it('a file of format 1 becomes lines, and its originals open byte for byte', async () => {
    const file = path.join(dir, 'old.jsonl');
    fs.writeFileSync(file, formatOne(folder()));
    const before = fs.readFileSync(file);
    const archive = await open(file);
    await eventually('the Memory view shows it', () => parts.memory.subject?.archive === archive);
    const rows = await lines(parts);
    assert.deepEqual(
      rows.map(row => row.row.label.slice(0, 22)),
      ['user: first question', 'talk: A long reply. in', 'user: second question', 'talk: short reply'],
    );
    const long = rows[1] as LineNode;
    await vscode.commands.executeCommand('strata.openOriginal', long);
    const editor = vscode.window.activeTextEditor;
    assert.equal(editor?.document.uri.scheme, 'strata');
    assert.equal(editor.document.getText(), LONG);
    assert.equal(await parts.documents.text(originalOf(long)), LONG);
    assert.deepEqual(fs.readFileSync(file), before, 'the file was only read');
  });

  it('opening it again adds nothing, and what Pi wrote since is taken along', async () => {
    const file = path.join(dir, 'old.jsonl');
    const first = await lines(parts);
    await open(file);
    assert.equal((await lines(parts)).length, first.length);
    const more = {
      type: 'message',
      timestamp: at(9),
      message: { role: 'user', content: 'third', timestamp: 9 },
    };
    fs.appendFileSync(file, `\n${JSON.stringify(more)}`);
    await open(file);
    const labels = (await lines(parts)).map(row => row.row.label);
    assert.equal(labels.length, first.length + 1);
    assert.equal(labels.at(-1), 'user: third');
  });

  it('opening it unchanged and browsing it write nothing into its archive, and call no model', async () => {
    const agent = process.env['PI_CODING_AGENT_DIR'] ?? '';
    const archive = parts.memory.subject?.archive ?? '';
    const folderOfIt = path.join(agent, 'strata', 'sessions', archive);
    const model = await Door.open(undefined);
    writeAgentDir(agent, model.port);
    try {
      const made = snapshot(folderOfIt);
      await open(path.join(dir, 'old.jsonl'));
      const before = snapshot(folderOfIt);
      // To read a file again, its archive is locked for a moment: the lock is touched, and as empty as it was.
      const touched = Object.keys(before).filter(name => before[name] !== made[name]);
      assert.ok(
        touched.every(name => name === 'lock'),
        touched.join(', '),
      );
      assert.deepEqual(Object.keys(before), Object.keys(made));
      assert.equal(fs.readFileSync(path.join(folderOfIt, 'lock'), 'utf8'), '');

      assert.ok(Object.keys(before).length > 2, 'the archive has files');
      const rows = await browse(parts);
      assert.equal(rows.length, 5);
      for (const row of rows) {
        const editor = vscode.window.activeTextEditor;
        await vscode.commands.executeCommand('strata.openOriginal', row);
        await vscode.commands.executeCommand('strata.copyAddress', row);
        await vscode.commands.executeCommand('strata.copyLine', row);
        assert.notEqual(vscode.window.activeTextEditor, editor);
      }
      await vscode.commands.executeCommand('strata.openView');
      await vscode.commands.executeCommand('strata.refreshSessions');
      await vscode.commands.executeCommand('strata.retry');
      assert.equal((await browse(parts)).length, 5);
      // What would be done later, by a timer or a watcher of files, counts too.
      await new Promise(next => setTimeout(next, 2_000));
      assert.deepEqual(snapshot(folderOfIt), before);
      assert.equal(vscode.window.terminals.length, 0, 'no Pi was started');
      assert.equal(model.accepted, 0);
      await model.assertCounts();
    } finally {
      await model.close();
    }
  });

  it('its session is listed in Sessions although Pi has no file of it', async () => {
    await vscode.commands.executeCommand('strata.sessions.focus');
    await eventually('the session is listed', () =>
      parts.sessions.getChildren().some(row => 'id' in row && row.id === parts.memory.subject?.archive),
    );
  });

  it('a file that is no session is refused with a sentence, and nothing is shown', async () => {
    const file = path.join(dir, 'other.jsonl');
    fs.writeFileSync(file, '{"type":"something"}\n');
    const shown = parts.memory.subject?.archive;
    assert.equal(
      await vscode.commands.executeCommand('strata.openSessionFile', vscode.Uri.file(file)),
      undefined,
    );
    assert.equal(parts.memory.subject?.archive, shown);
  });

  it('a strata: address that names nothing of ours opens nothing', async () => {
    const wrong = [
      '/etc/passwd',
      `/${'0'.repeat(24)}/original/${'0'.repeat(32)}/0/x`,
      pathOfDocument(originalOf((await lines(parts))[0] as LineNode), 'x').replace('/0/x', '/999999/x'),
    ];
    for (const uri of wrong.map(p => vscode.Uri.from({ scheme: 'strata', path: p })))
      await assert.rejects(async () => vscode.workspace.openTextDocument(uri), uri.path);
  });

  it('an archive that cannot be read is a row that says why, and Try Again brings the lines back', async () => {
    const archive = parts.memory.subject?.archive ?? '';
    const config = path.join(
      process.env['PI_CODING_AGENT_DIR'] ?? '',
      'strata',
      'sessions',
      archive,
      'config.json',
    );
    const good = fs.readFileSync(config);
    fs.writeFileSync(config, '{ broken');
    try {
      await vscode.commands.executeCommand('strata.retry');
      const message = await eventually('a failure row', async () => {
        const [row] = await parts.memory.getChildren();
        return row && 'message' in row && row.message;
      });
      assert.match(message, /config\.json is not valid JSON/);
    } finally {
      fs.writeFileSync(config, good);
    }
    await vscode.commands.executeCommand('strata.retry');
    await eventually('the lines are back', async () => (await lines(parts)).length === 5);
  });

  it('a session that ran without Strata says so, and Read into Memory makes its archive', async () => {
    const sessions = path.join(process.env['PI_CODING_AGENT_DIR'] ?? '', 'sessions', '--somewhere--');
    const file = path.join(sessions, 'plain.jsonl');
    fs.mkdirSync(sessions, { recursive: true });
    fs.writeFileSync(file, formatOne(folder()).replace('host-test-format-1', 'without-strata'));
    try {
      await vscode.commands.executeCommand('strata.sessions.focus');
      const facts = await eventually('it is listed as unread', async () => {
        await parts.catalogue.read();
        const found = parts.catalogue.sessions.find(session => session.file === file);
        return found && isUnread(found) && found;
      });
      await vscode.commands.executeCommand('strata.showSession', facts);
      await eventually('Memory is about it', () => parts.memory.subject?.unread === true);
      assert.deepEqual(await parts.memory.getChildren(), []);
      await vscode.commands.executeCommand('strata.importSession', facts);
      await eventually('its lines are there', async () => (await lines(parts)).length === 4);
      assert.equal(parts.memory.subject?.archive, facts.id);
    } finally {
      fs.rmSync(file);
    }
  });
});
