import * as vscode from 'vscode';

/**
 * Whether this window may start programs. In Restricted Mode it says so, with the way out; `what` completes "In
 * Restricted Mode Strata …". Checked by each command itself: a `when` clause only hides it.
 */
export async function trusted(what: string): Promise<boolean> {
  if (vscode.workspace.isTrusted) return true;
  const manage = 'Manage Workspace Trust';
  const chosen = await vscode.window.showWarningMessage(
    `In Restricted Mode Strata ${what}. Archives can be read. Trust this folder to go on.`,
    manage,
  );
  if (chosen === manage) await vscode.commands.executeCommand('workbench.trust.manage');
  return false;
}
