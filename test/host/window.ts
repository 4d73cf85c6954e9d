import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import type { Parts } from '../../extension/vscode/handlers';
import type { LineNode } from '../../extension/vscode/trees/memoryTree';

/** The parts of the running extension, which it hands out to tests only. */
export async function strata(): Promise<Parts> {
  const extension = vscode.extensions.getExtension<Parts | undefined>('strata.strata');
  assert.ok(extension, 'the extension is installed');
  const parts = await extension.activate();
  assert.ok(parts, 'in a test it returns its parts');
  return parts;
}

/** The real path of the window's folder. */
export function folder(): string {
  const first = vscode.workspace.workspaceFolders?.[0];
  assert.ok(first);
  return fs.realpathSync(first.uri.fsPath);
}

export function temporaryFolder(): string {
  return fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'strata-host-test-')));
}

/** Waits until `look` gives something; it may throw while it isn't so yet. */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  timeout = 15_000,
): Promise<T> {
  let last: unknown;
  for (const end = Date.now() + timeout; ; await new Promise(next => setTimeout(next, 50))) {
    try {
      const seen = await look();
      if (seen !== undefined && seen !== false) return seen;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end)
      throw new Error(
        `not within ${timeout / 1000} s: ${what}${last instanceof Error ? ` (${last.message})` : ''}`,
      );
  }
}

/** The rows of the Memory view, or below one of them. */
export async function lines({ memory }: Parts, below?: LineNode): Promise<readonly LineNode[]> {
  const rows = await memory.getChildren(below);
  return rows.map(row => {
    // Not by instanceof: the tests are a bundle of their own, with classes of their own.
    if (row.kind === 'failure') throw new Error(row.message);
    return row;
  });
}

/** Chooses from the quick pick that is open: the first row, or one further down. */
export async function acceptQuickPick(down = 0): Promise<void> {
  for (let i = 0; i < down; i++) await vscode.commands.executeCommand('workbench.action.quickOpenSelectNext');
  await vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem');
}

export async function configure(key: string, value: unknown): Promise<void> {
  await vscode.workspace.getConfiguration().update(key, value, vscode.ConfigurationTarget.Global);
}
