import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { eventually, folder, lines, strata, temporaryFolder } from './window';

describe('An archive that became unreadable', () => {
  it('is a row with Try Again also below a line that was shown before', async () => {
    const parts = await strata();
    const dir = temporaryFolder();
    const file = path.join(dir, 'session.jsonl');
    const entries = [
      { type: 'session', id: 'host-test-unreadable', timestamp: '2026-11-03T12:00:00.000Z', cwd: folder() },
      {
        type: 'message',
        timestamp: '2026-11-03T12:00:01.000Z',
        message: { role: 'user', content: 'hello', timestamp: 1 },
      },
    ];
    fs.writeFileSync(file, entries.map(entry => JSON.stringify(entry)).join('\n'));
    await vscode.commands.executeCommand('strata.memory.focus');
    const archive = await vscode.commands.executeCommand<string | undefined>(
      'strata.openSessionFile',
      vscode.Uri.file(file),
    );
    assert.ok(archive);
    await eventually('the Memory view shows it', () => parts.memory.subject?.archive === archive);
    const [line] = await lines(parts);
    assert.ok(line);

    const agent = process.env['PI_CODING_AGENT_DIR'] ?? '';
    const config = path.join(agent, 'strata', 'sessions', archive, 'config.json');
    const good = fs.readFileSync(config);
    fs.writeFileSync(config, '{ broken');
    try {
      await vscode.commands.executeCommand('strata.retry');
      const [row, ...more] = await parts.memory.getChildren(line);
      assert.ok(row && 'message' in row && more.length === 0);
      assert.match(row.message, /config\.json is not valid JSON/);
      assert.equal(parts.memory.getTreeItem(row).command?.command, 'strata.retry');
    } finally {
      fs.writeFileSync(config, good);
    }
    await vscode.commands.executeCommand('strata.retry');
    assert.deepEqual(await lines(parts, line), []);
    fs.rmSync(dir, { recursive: true, force: true });
  });
});
