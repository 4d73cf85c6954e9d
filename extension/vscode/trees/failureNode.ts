import * as vscode from 'vscode';

/** A row in place of what could not be read: what happened, with *Try Again* beside it. */
export class FailureNode {
  readonly kind = 'failure';

  constructor(readonly message: string) {}

  item(): vscode.TreeItem {
    const item = new vscode.TreeItem(this.message, vscode.TreeItemCollapsibleState.None);
    item.iconPath = new vscode.ThemeIcon('warning', new vscode.ThemeColor('list.warningForeground'));
    item.tooltip = this.message;
    item.contextValue = 'failure';
    item.command = { command: 'strata.retry', title: 'Try Again' };
    return item;
  }
}
