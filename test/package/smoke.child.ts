// Runs in the extension host of a VS Code that has the packaged extension installed.
import assert from 'node:assert/strict';
import * as vscode from 'vscode';

interface Manifest {
  readonly contributes: { readonly commands: readonly { readonly command: string }[] };
}

describe('the installed extension', () => {
  it('activates and registers every command it declares', async () => {
    const extension = vscode.extensions.getExtension('strata.strata');
    assert.ok(extension, 'it is installed');
    await extension.activate();
    const { contributes } = extension.packageJSON as Manifest;
    const known = new Set(await vscode.commands.getCommands(true));
    assert.ok(contributes.commands.length > 0);
    assert.deepEqual(
      contributes.commands.map(({ command }) => command).filter(command => !known.has(command)),
      [],
    );
  });
});
