import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

interface Manifest {
  readonly version: string;
  readonly icon: string;
  readonly main: string;
  readonly engines: { readonly vscode: string };
  readonly enabledApiProposals?: unknown;
  readonly scripts: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly capabilities: {
    readonly untrustedWorkspaces: { readonly restrictedConfigurations: readonly string[] };
  };
  readonly contributes: {
    readonly commands: readonly {
      readonly command: string;
      readonly title: string;
      readonly category: string;
    }[];
    readonly viewsContainers: Readonly<
      Record<string, readonly { readonly id: string; readonly icon: string }[]>
    >;
    readonly views: Readonly<Record<string, readonly { readonly id: string; readonly icon?: string }[]>>;
    readonly viewsWelcome: readonly { readonly view: string; readonly contents: string }[];
    readonly menus: Readonly<Record<string, readonly { readonly command: string }[]>>;
    readonly keybindings: readonly { readonly command: string }[];
    readonly configuration: {
      readonly properties: Readonly<
        Record<string, { readonly scope: string; readonly markdownDescription: string }>
      >;
    };
  };
}

const manifest = JSON.parse(fs.readFileSync('package.json', 'utf8')) as Manifest;
const { contributes } = manifest;
const declared = contributes.commands.map(({ command }) => command);
const settings = Object.keys(contributes.configuration.properties);
const views = Object.values(contributes.views).flatMap(entries => entries.map(({ id }) => id));

const sources = ['extension/extension.ts']
  .concat(
    fs
      .readdirSync('extension/vscode', { recursive: true, encoding: 'utf8' })
      .map(name => `extension/vscode/${name}`),
  )
  .filter(file => file.endsWith('.ts'))
  .map(file => ts.createSourceFile(file, fs.readFileSync(file, 'utf8'), ts.ScriptTarget.ES2022, true));

function visit(each: (node: ts.Node) => void): void {
  const walk = (node: ts.Node): void => {
    each(node);
    ts.forEachChild(node, walk);
  };
  sources.forEach(walk);
}

/** The literal at one place among the arguments of every call of a function or method of that name. */
function literalArguments(name: string, index: number): string[] {
  const found: string[] = [];
  visit(node => {
    if (!ts.isCallExpression(node)) return;
    const { expression } = node;
    const called = ts.isPropertyAccessExpression(expression) ? expression.name.text : expression.getText();
    const argument = node.arguments[index];
    if (called === name && argument !== undefined && ts.isStringLiteralLike(argument))
      found.push(argument.text);
  });
  return found;
}

/** The strings of the list that commands.ts registers. */
function registered(): string[] {
  const found: string[] = [];
  visit(node => {
    if (ts.isVariableDeclaration(node) && node.name.getText() === 'COMMANDS')
      node.initializer?.forEachChild(list => {
        if (ts.isArrayLiteralExpression(list))
          for (const element of list.elements)
            if (ts.isStringLiteral(element)) found.push(`strata.${element.text}`);
      });
  });
  return found;
}

const sorted = (values: Iterable<string>): string[] => [...new Set(values)].sort();

describe('package.json', () => {
  it('declares exactly the commands that the extension registers', () => {
    assert.ok(declared.length > 5);
    assert.deepEqual(sorted(declared), sorted(registered()));
    for (const { title, category } of contributes.commands) assert.ok(title !== '' && category === 'Strata');
  });

  it('names in menus, keys and links only commands that exist', () => {
    const named = [...Object.values(contributes.menus).flat(), ...contributes.keybindings].map(
      ({ command }) => command,
    );
    for (const { contents } of contributes.viewsWelcome)
      for (const [, command = ''] of contents.matchAll(/\(command:(strata\.[\w.]+)\)/g)) named.push(command);
    assert.ok(named.length > 5);
    // The one command of VS Code's own that a key of ours names: Space leafs through originals.
    const known = [...declared, 'list.selectAndPreserveFocus'];
    assert.deepEqual(
      sorted(named).filter(command => !known.includes(command)),
      [],
    );
  });

  it('shares its names with the sources: each strata.* in them is declared', () => {
    const known = new Set([
      ...declared,
      ...settings,
      ...views,
      ...views.map(view => `${view}.focus`),
      ...contextKeys(),
    ]);
    const found: string[] = [];
    visit(node => {
      if (ts.isStringLiteralLike(node) && /^strata(\.\w+)+$/.test(node.text)) found.push(node.text);
    });
    assert.ok(found.length > 10);
    assert.deepEqual(
      sorted(found).filter(name => !known.has(name) && !mementoKeys().includes(name)),
      [],
    );
  });

  it('declares exactly the settings that are read, and restricts those that name programs and places', () => {
    const read = [...literalArguments('text', 0), ...literalArguments('get', 0)].map(
      name => `strata.${name}`,
    );
    assert.deepEqual(sorted(read), sorted(settings));
    for (const { scope, markdownDescription } of Object.values(contributes.configuration.properties)) {
      assert.ok(['machine', 'window', 'resource', 'application'].includes(scope));
      assert.ok(markdownDescription.length > 40);
    }
    assert.deepEqual(
      manifest.capabilities.untrustedWorkspaces.restrictedConfigurations.filter(
        name => !settings.includes(name),
      ),
      [],
    );
    for (const name of ['strata.piPath', 'strata.archiveRoot'])
      assert.ok(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations.includes(name));
  });

  it('declares exactly the views that are created, each with a welcome', () => {
    assert.deepEqual(sorted(literalArguments('createTreeView', 0)), sorted(views));
    for (const view of views)
      assert.ok(
        contributes.viewsWelcome.some(welcome => welcome.view === view),
        `${view} says something when it is empty`,
      );
  });

  it('asks only for context that the extension sets', () => {
    const set = sorted(contextKeys());
    const asked = [...JSON.stringify(contributes).matchAll(/"(?:when|enablement)":"((?:[^"\\]|\\.)*)"/g)]
      .flatMap(([, when = '']) =>
        [...when.matchAll(/(?<![=~^'"/\\\w]\s?)\bstrata\.\w+/g)].map(match => match[0]),
      )
      .filter(name => !views.includes(name));
    assert.ok(asked.length > 0);
    assert.deepEqual(sorted(asked), set);
  });

  it('names files that exist', () => {
    const icons = [
      manifest.icon,
      ...Object.values(contributes.viewsContainers)
        .flat()
        .map(({ icon }) => icon),
      ...Object.values(contributes.views)
        .flat()
        .flatMap(({ icon }) => icon ?? []),
    ];
    const scripts = Object.values(manifest.scripts).flatMap(script => script.match(/[\w/]+\.mjs/g) ?? []);
    for (const file of [...icons, ...scripts]) assert.ok(fs.existsSync(file), `${file} exists`);
    const png = fs.readFileSync(manifest.icon);
    assert.ok(png.readUInt32BE(16) >= 128, 'the icon is wide enough for the marketplace');
    assert.match(path.basename(manifest.icon), /\.png$/);
  });

  it('is checked against the oldest VS Code it claims to run on, and no proposed API', () => {
    assert.equal(manifest.engines.vscode, `^${manifest.devDependencies['@types/vscode']}`);
    assert.equal(manifest.enabledApiProposals, undefined);
  });
});

function contextKeys(): string[] {
  return literalArguments('setContextKey', 0);
}

/** Constants named KEY or ..._KEY: names in a memento, which are nobody else’s business. */
function mementoKeys(): string[] {
  const found: string[] = [];
  visit(node => {
    if (
      ts.isVariableDeclaration(node) &&
      /(?:^|_)KEY$/.test(node.name.getText()) &&
      node.initializer !== undefined &&
      ts.isStringLiteral(node.initializer)
    )
      found.push(node.initializer.text);
  });
  return found;
}
