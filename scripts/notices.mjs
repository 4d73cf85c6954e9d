// The notice that goes with what we ship of others: name, version and licence of every package in a bundle.
import fs from 'node:fs';
import path from 'node:path';

/** Licences that ours may be combined with, and whose one condition is this notice. */
const FITTING = new Set(['MIT', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0']);

/** @typedef {{name: string, version: string, license?: string, dependencies?: Record<string, string>}} Manifest */

/**
 * @param {string} folder
 * @returns {Manifest}
 */
const manifestOf = folder => JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));

/**
 * The folders of the packages that took part in a build.
 * @param {readonly import('esbuild').Metafile[]} metafiles
 * @returns {Set<string>} relative to the checkout
 */
function bundled(metafiles) {
  const folders = new Set();
  for (const { outputs } of metafiles)
    for (const { inputs } of Object.values(outputs))
      for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
        const folder = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];
        if (folder !== undefined && bytesInOutput > 0) folders.add(folder);
      }
  return folders;
}

/**
 * A package's folder as Node would find it from another one's.
 * @param {string} root the checkout
 * @param {string} from
 * @param {string} name
 * @returns {string}
 */
function resolvePackage(root, from, name) {
  for (let at = from; ; at = path.dirname(at)) {
    const folder = path.join(at, 'node_modules', name);
    if (fs.existsSync(path.join(root, folder, 'package.json'))) return folder;
    if (at === path.dirname(at)) throw new Error(`${name}, which ${from} needs, is not installed`);
  }
}

/**
 * @param {string} root the checkout
 * @param {readonly import('esbuild').Metafile[]} metafiles of everything that is shipped
 * @param {readonly string[]} copied names of packages of which files are shipped beside the bundles; what they depend
 *   on is named too
 * @returns {string} the text of the notice
 * @throws {Error} when a package's licence is missing or doesn't fit
 */
export function thirdPartyNotice(root, metafiles, copied) {
  const folders = bundled(metafiles);
  const waiting = copied.map(name => path.join('node_modules', name));
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    folders.add(folder);
    for (const name of Object.keys(manifestOf(path.join(root, folder)).dependencies ?? {})) {
      const dependency = resolvePackage(root, folder, name);
      if (!folders.has(dependency)) waiting.push(dependency);
    }
  }
  const parts = [...folders].sort().map(folder => {
    const { name, version, license } = manifestOf(path.join(root, folder));
    if (license === undefined || !FITTING.has(license))
      throw new Error(
        `${name} ${version} is under ${license ?? 'no licence'}, which can't be shipped with Strata`,
      );
    const file = fs.readdirSync(path.join(root, folder)).find(entry => /^licen[cs]e(\.\w+)?$/i.test(entry));
    if (file === undefined) throw new Error(`${name} ${version} comes without the text of its licence`);
    const text = fs
      .readFileSync(path.join(root, folder, file), 'utf8')
      .replaceAll('\r\n', '\n')
      .trim();
    return `${'='.repeat(80)}\n${name} ${version} (${license})\n${'='.repeat(80)}\n\n${text}\n`;
  });
  return `Strata contains the following packages of others.\n\n${parts.join('\n')}`;
}
