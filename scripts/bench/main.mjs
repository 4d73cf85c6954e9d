// `npm run bench [-- NAME ...] [--json]`: measures the product and holds it to its bars. Ends with 1 when one is missed.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import esbuild from 'esbuild';
import { ROOT, SetupError, die } from '../tools.mjs';
import { machine, table } from './figures.mjs';

/** @typedef {import('./figures.mjs').Report} Report */

/** Each bench and the module whose `run` gives its figures. Modules are bundled with the product they measure. */
const BENCHES = /** @type {Record<string, string>} */ ({
  append: 'scripts/bench/append.ts',
  open: 'scripts/bench/open.ts',
});

/** @param {string} name @param {string} entry @returns {Promise<Report>} */
async function measure(name, entry) {
  // Inside the checkout, where the packages are found that stay outside the bundle.
  const outfile = path.join(ROOT, 'out', 'bench', `${name}.mjs`);
  await esbuild.build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
    sourcemap: 'inline',
  });
  /** @type {{run: () => Promise<Pick<Report, 'figures' | 'absent'>>}} */
  const bench = await import(pathToFileURL(outfile).href);
  const { figures, absent } = await bench.run();
  return { name, machine: machine(), figures, absent };
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { json: { type: 'boolean', default: false } },
  });
  const names = positionals.length > 0 ? positionals : Object.keys(BENCHES);
  const reports = [];
  for (const name of names) {
    const entry = BENCHES[name];
    if (entry === undefined || !fs.existsSync(path.join(ROOT, entry)))
      throw new SetupError(`There is no bench "${name}": name one of ${Object.keys(BENCHES).join(', ')}.`);
    const report = await measure(name, entry);
    reports.push(report);
    if (!values.json) console.log(table(report));
  }
  if (values.json) console.log(JSON.stringify(reports.length === 1 ? reports[0] : reports, null, 2));
  if (reports.some(({ figures }) => figures.some(({ holds }) => !holds))) process.exitCode = 1;
}

main().catch(die);
