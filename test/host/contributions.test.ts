import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { COMMANDS } from '../../extension/vscode/commands';
import { strata } from './window';

interface Manifest {
  readonly contributes: {
    readonly commands: readonly {
      readonly command: string;
      readonly category: string;
      readonly title: string;
    }[];
    readonly menus: Readonly<Record<string, readonly { readonly command: string; readonly when?: string }[]>>;
    readonly keybindings: readonly { readonly command: string }[];
    readonly views: { readonly strata: readonly { readonly id: string; readonly icon?: string }[] };
    readonly viewsWelcome: readonly { readonly view: string; readonly contents: string }[];
    readonly configuration: { readonly properties: Readonly<Record<string, { readonly scope: string }>> };
  };
}

describe('what the extension adds to VS Code', () => {
  let manifest: Manifest;
  before(async () => {
    await strata();
    manifest = vscode.extensions.getExtension('strata.strata')?.packageJSON as Manifest;
  });

  it('every command of the manifest is registered, and no other', async () => {
    const declared = manifest.contributes.commands.map(c => c.command).sort();
    assert.deepEqual(declared, COMMANDS.map(name => `strata.${name}`).sort());
    const registered = new Set(await vscode.commands.getCommands(true));
    for (const command of declared) assert.ok(registered.has(command), command);
  });

  it('menus, keys and welcome texts name commands that exist', async () => {
    const all = new Set(await vscode.commands.getCommands(false));
    const { menus, keybindings, viewsWelcome } = manifest.contributes;
    const used = [...Object.values(menus).flat(), ...keybindings].map(item => item.command);
    const linked = viewsWelcome.flatMap(w =>
      [...w.contents.matchAll(/\(command:([\w.]+)\)/g)].map(m => m[1] ?? ''),
    );
    for (const command of [...used, ...linked]) assert.ok(all.has(command), command);
  });

  it('a command that needs an argument is not in the palette', () => {
    const hidden = (manifest.contributes.menus['commandPalette'] ?? [])
      .filter(item => item.when === 'false')
      .map(item => item.command);
    for (const name of [
      'showSession',
      'resumeSession',
      'importSession',
      'openOriginal',
      'copyAddress',
      'copyLine',
    ])
      assert.ok(hidden.includes(`strata.${name}`), name);
  });

  it('both views are there, with icons, and can be focused', async () => {
    assert.deepEqual(
      manifest.contributes.views.strata.map(view => view.id),
      ['strata.sessions', 'strata.memory'],
    );
    assert.ok(manifest.contributes.views.strata.every(view => view.icon));
    await vscode.commands.executeCommand('strata.sessions.focus');
    await vscode.commands.executeCommand('strata.memory.focus');
    const parts = await strata();
    assert.ok(parts.memory.view.visible);
    assert.ok(parts.sessions.view.visible);
  });

  it('settings that name paths cannot come from a folder', () => {
    const { properties } = manifest.contributes.configuration;
    assert.equal(properties['strata.piPath']?.scope, 'machine');
    assert.equal(properties['strata.archiveRoot']?.scope, 'machine');
  });

  it('commands that get nonsense for an argument do nothing', async () => {
    for (const name of [
      'showSession',
      'resumeSession',
      'importSession',
      'openOriginal',
      'copyAddress',
      'copyLine',
    ])
      for (const argument of [null, 7, 'x', {}, { key: '../../etc' }, { kind: 'line', row: {} }])
        await vscode.commands.executeCommand(`strata.${name}`, argument);
    assert.equal(vscode.window.terminals.length, 0);
  });
});
