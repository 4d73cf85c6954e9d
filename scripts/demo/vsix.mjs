// The extension as people install it.
import fs from 'node:fs';
import path from 'node:path';
import { locked, must } from '../install.mjs';
import { ROOT, ensureModules } from '../tools.mjs';

/** What goes into it, or decides how. */
const INPUTS = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  '.vscodeignore',
  'esbuild.mjs',
  'extension',
  'media',
  'package-lock.json',
  'package.json',
  'scripts/notices.mjs',
  'scripts/package.mjs',
];

/**
 * Builds and packages the extension as it is in this checkout, unless that has been done since its last change.
 * @returns {Promise<{vsix: string, dist: string}>} the VSIX, and the folder of the same build
 */
export async function buildExtension() {
  await ensureModules();
  // Two builds at once would write the same files.
  return locked('demo-build', buildIfChanged);
}

async function buildIfChanged() {
  const vsix = path.join(ROOT, 'out/demo/strata.vsix');
  const dist = path.join(ROOT, 'out/demo/dist');
  const newest = Math.max(...INPUTS.map(input => changed(path.join(ROOT, input))));
  if (Math.min(changed(vsix), changed(path.join(dist, 'cli.mjs'))) > newest) return { vsix, dist };
  console.log('building the extension ...');
  const run = (/** @type {readonly string[]} */ [script = '', ...args]) =>
    must('the extension', process.execPath, [path.join(ROOT, script), ...args], {
      cwd: ROOT,
      advice: 'Run `npm run lint` to see what is wrong with it',
    });
  await run(['esbuild.mjs', '--production', '--out', dist]);
  await run(['scripts/package.mjs', '--out', vsix]);
  return { vsix, dist };
}

/**
 * When a file, or any in a folder, was last written; 0 when there is none.
 * @param {string} file
 * @returns {number}
 */
function changed(file) {
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...fs.readdirSync(file).map(name => changed(path.join(file, name))));
}
