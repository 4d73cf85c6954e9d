import * as vscode from 'vscode';

/** Sets a key for `when` clauses. A window that is closing refuses, and then nobody reads it any more. */
export function setContextKey(key: string, value: unknown): void {
  void vscode.commands.executeCommand('setContext', key, value).then(undefined, () => undefined);
}
