// Holds that the vectors judge the product and nothing else: whatever test/vectors takes from extension/ must be in
// use there. `node scripts/vectorImports.mjs [ROOT]` prints what isn't and ends with 1; a unit test runs it.
import fs from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/** What the three bundles start from. */
const ENTRIES = ['extension/extension.ts', 'extension/pi/index.ts', 'extension/cli/main.ts'];

/**
 * One import of a file of ours.
 * @typedef {object} Import
 * @property {string} module path of what is imported, from the root
 * @property {string} name `*` for all of it: a namespace, a dynamic import, a bare import
 * @property {boolean} typeOnly gone at run time
 */

/**
 * What in `test/vectors` is imported from `extension/` although the product does not use it: modules that no bundle
 * reaches, and names that no other module of a bundle imports. One sentence each; none when all is well.
 * @param {string} root folder of the repository
 * @returns {string[]}
 */
function vectorImportProblems(root) {
  const problems = ENTRIES.filter(entry => !fs.existsSync(path.join(root, entry))).map(
    entry => `${entry} does not exist, so what it uses is not known.`,
  );
  const used = usedNames(root);
  for (const file of filesIn(root, 'test/vectors')) {
    for (const { module, name, typeOnly } of importsOf(root, file)) {
      if (!module.startsWith('extension/')) continue;
      const names = used.get(module);
      if (!names) problems.push(`${file} imports ${module}, which no bundle contains.`);
      // A type has no behaviour that a vector could judge.
      else if (!typeOnly && !names.has(name) && !names.has('*'))
        problems.push(`${file} imports ${name} from ${module}, which no module of a bundle does.`);
    }
  }
  return [...new Set(problems)];
}

/**
 * The modules that the bundles are made of, each with the names that other modules of them import.
 * @param {string} root
 * @returns {Map<string, Set<string>>}
 */
function usedNames(root) {
  /** @type {Map<string, Set<string>>} */
  const used = new Map();
  const waiting = ENTRIES.filter(entry => fs.existsSync(path.join(root, entry)));
  for (const entry of waiting) used.set(entry, new Set());
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    for (const { module, name } of importsOf(root, file)) {
      if (!used.has(module)) {
        used.set(module, new Set());
        waiting.push(module);
      }
      used.get(module)?.add(name);
    }
  }
  return used;
}

/**
 * The imports of a file that lead to other TypeScript files here; packages and data are left out.
 * @param {string} root
 * @param {string} file from the root
 * @returns {Import[]}
 */
function importsOf(root, file) {
  const text = fs.readFileSync(path.join(root, file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true);
  /** @type {Import[]} */
  const imports = [];
  /** @param {ts.Node} specifier @param {string} name @param {boolean} typeOnly */
  const add = (specifier, name, typeOnly) => {
    if (!ts.isStringLiteral(specifier) || !specifier.text.startsWith('.')) return;
    const module = path.posix.join(path.posix.dirname(file), specifier.text) + '.ts';
    if (fs.existsSync(path.join(root, module))) imports.push({ module, name, typeOnly });
  };
  /** @param {ts.Node} node */
  const visit = node => {
    if (ts.isImportDeclaration(node)) {
      const clause = node.importClause;
      const typeOnly = clause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
      const named = clause?.namedBindings;
      if (named && ts.isNamedImports(named))
        for (const e of named.elements)
          add(node.moduleSpecifier, (e.propertyName ?? e.name).text, typeOnly || e.isTypeOnly);
      else add(node.moduleSpecifier, '*', typeOnly);
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
      add(node.moduleSpecifier, '*', node.isTypeOnly);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [specifier] = node.arguments;
      if (specifier) add(specifier, '*', false);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return imports;
}

/** @param {string} root @param {string} folder @returns {string[]} TypeScript files, from the root */
function filesIn(root, folder) {
  return fs
    .readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map(name => path.posix.join(folder, name.split(path.sep).join('/')))
    .sort();
}

const problems = vectorImportProblems(process.argv[2] ?? path.join(import.meta.dirname, '..'));
for (const problem of problems) console.log(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
