import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/** What a room may import beside itself; of `types` only what vanishes in the bundle. `node:crypto` and `node:path` are free. */
interface Room {
  readonly rooms?: readonly string[];
  readonly types?: readonly string[];
  readonly packages?: readonly RegExp[];
}

const NODE = /^node:/;
const NODE_BUT_FILES = /^node:(?!fs)/;
const ROOMS: Readonly<Record<string, Room>> = {
  archive: {},
  notifications: {},
  // Ids of folders are the archive's to compute.
  storage: {
    rooms: ['archive/canonical'],
    types: ['archive', 'notifications'],
    packages: [NODE, /^fs-native-extensions$/, /^chokidar$/],
  },
  search: { types: ['archive'], packages: [NODE, /^sql\.js$/] },
  // What a message is, on the wire too, is the archive's to say, and what its refusals are called.
  link: {
    rooms: ['archive/parseMessage', 'archive/archiveError'],
    types: ['archive', 'notifications'],
    packages: [/^node:net$/, /^vscode-jsonrpc\/node$/],
  },
  'link/discovery': { types: ['archive'], packages: [/^node:(fs|fs\/promises|os|net)$/] },
  pi: {
    rooms: ['link', 'archive', 'notifications', 'storage'],
    types: ['@earendil-works/pi-coding-agent', '@earendil-works/pi-ai'],
    packages: [NODE],
  },
  // It hands Pi's functions over; the rest sees their types.
  'pi/loader.mjs': { packages: [NODE, /^@earendil-works\//] },
  cli: { rooms: ['archive', 'notifications', 'storage'], packages: [NODE] },
  vscode: {
    rooms: ['archive', 'notifications', 'storage', 'search', 'link', 'cli'],
    packages: [NODE_BUT_FILES, /^vscode$/],
  },
  'extension.ts': {
    rooms: ['archive', 'notifications', 'storage', 'search', 'link', 'vscode'],
    packages: [NODE_BUT_FILES, /^vscode$/],
  },
};

const root = path.join(process.cwd(), 'extension');

function filesBelow(folder: string): string[] {
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names
    .filter(name => /\.(ts|mjs|cjs)$/.test(name) && !name.endsWith('.d.ts'))
    .map(name => name.split(path.sep).join('/'));
}

interface Import {
  readonly from: string;
  readonly typeOnly: boolean;
}

function importsOf(source: ts.SourceFile): Import[] {
  const found: Import[] = [];
  const add = (node: ts.Node | undefined, typeOnly: boolean): void => {
    if (node !== undefined && ts.isStringLiteralLike(node)) found.push({ from: node.text, typeOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node))
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword);
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node.argument.literal, true);
    else if (
      ts.isCallExpression(node) &&
      (node.expression.kind === ts.SyntaxKind.ImportKeyword || node.expression.getText(source) === 'require')
    )
      add(node.arguments[0], false);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function roomOf(file: string): string {
  const [first = ''] = file.split('/');
  if (file === 'pi/loader.mjs') return file;
  return /^link\/discovery/.test(file) ? 'link/discovery' : first;
}

/** Why a file may not import that, or undefined when it may. */
function objection(file: string, { from, typeOnly }: Import): string | undefined {
  const room = roomOf(file);
  const allowed = ROOMS[room];
  if (allowed === undefined) return `${file} is in no room of the table`;
  const target = from.startsWith('.') ? path.posix.join(path.posix.dirname(file), from) : from;
  const reaches = (places: readonly string[]): boolean =>
    places.some(place => target === place || target.startsWith(`${place}/`));
  const own = from.startsWith('.') && reaches([room.split('/')[0] ?? room]);
  const free = /^node:(crypto|path)$/.test(from);
  if (own || free || reaches(allowed.rooms ?? []) || (typeOnly && reaches(allowed.types ?? [])))
    return undefined;
  if (!from.startsWith('.') && (allowed.packages ?? []).some(pattern => pattern.test(from))) return undefined;
  return `${file} imports ${typeOnly ? 'types of ' : ''}${from}`;
}

describe('rooms', () => {
  const files = filesBelow(root);
  const sources = files.map(file => ({
    file,
    source: ts.createSourceFile(file, fs.readFileSync(path.join(root, file), 'utf8'), ts.ScriptTarget.ES2022),
  }));

  it('the table forbids what it is there to forbid', () => {
    const value = (from: string): Import => ({ from, typeOnly: false });
    assert.ok(objection('archive/x.ts', value('node:fs')));
    assert.ok(objection('archive/x.ts', value('../link/server')));
    assert.ok(objection('link/server.ts', value('node:fs/promises')));
    assert.ok(objection('link/server.ts', value('../archive/archive')));
    assert.ok(objection('link/discovery.ts', value('vscode')));
    assert.ok(objection('vscode/trees/x.ts', value('node:fs')));
    assert.ok(objection('pi/index.ts', value('@earendil-works/pi-ai')));
    assert.ok(objection('cli/main.ts', value('vscode')));
    assert.ok(objection('storage/x.ts', value('../archive/archive')));
    assert.equal(objection('link/server.ts', { from: '../archive/requests', typeOnly: true }), undefined);
    assert.equal(objection('vscode/trees/x.ts', value('../figures')), undefined);
  });

  it('each file imports only what its room may', () => {
    const wrong = sources.flatMap(({ file, source }) =>
      importsOf(source).map(entry => objection(file, entry)),
    );
    assert.deepEqual(
      wrong.filter(entry => entry !== undefined),
      [],
    );
    assert.ok(files.length > 50, 'the sources were found');
  });

  it('nothing but what Pi calls is a default export, and nothing is a barrel', () => {
    const wrong = sources.filter(({ file, source }) =>
      source.statements.some(
        statement =>
          (ts.isExportDeclaration(statement) && statement.exportClause === undefined) ||
          (!['pi/index.ts', 'pi/loader.mjs'].includes(file) &&
            (ts.isExportAssignment(statement) ||
              (ts.canHaveModifiers(statement) &&
                ts
                  .getModifiers(statement)
                  ?.some(modifier => modifier.kind === ts.SyntaxKind.DefaultKeyword)))),
      ),
    );
    assert.deepEqual(
      wrong.map(({ file }) => file),
      [],
    );
  });

  it('no file has more than 300 lines', () => {
    const long = ['extension', 'scripts', 'test'].flatMap(folder =>
      filesBelow(path.join(process.cwd(), folder))
        .map(file => `${folder}/${file}`)
        .filter(file => fs.readFileSync(file, 'utf8').trimEnd().split('\n').length > 300),
    );
    assert.deepEqual(long, []);
  });
});
