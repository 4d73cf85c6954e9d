// `npm run package`: the production build as a VSIX, strata-<version>.vsix or the file that `--out` names.
// It is put together in a folder of its own, so a dist that is in use stays as it is.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { SetupError, capture, die } from './install.mjs';
import { ROOT, ensureModules } from './tools.mjs';

/** What goes along as it stands in the checkout. `.vscodeignore` says which files of it. */
const AS_IS = ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', 'media', '.vscodeignore'];

/** @param {string} what @param {readonly string[]} args @param {string} cwd */
async function step(what, args, cwd) {
  const { code, output } = await capture(process.execPath, args, { cwd });
  if (code !== 0) throw new SetupError(`${what} failed:\n${output}`);
}

async function main() {
  const { values } = parseArgs({ options: { out: { type: 'string' } } });
  await ensureModules();
  const { name, version } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
  const target = path.resolve(values.out ?? path.join(ROOT, `${name}-${version}.vsix`));
  fs.mkdirSync(path.join(ROOT, 'out'), { recursive: true });
  const stage = fs.mkdtempSync(path.join(ROOT, 'out/package-'));
  try {
    const build = [path.join(ROOT, 'esbuild.mjs'), '--production', '--out', path.join(stage, 'dist')];
    await step('The production build', build, ROOT);
    for (const entry of AS_IS)
      if (fs.existsSync(path.join(ROOT, entry)))
        fs.cpSync(path.join(ROOT, entry), path.join(stage, entry), { recursive: true });
    const vsce = path.join(ROOT, 'node_modules/@vscode/vsce/vsce');
    const half = path.join(stage, 'half.vsix');
    await step('Packaging', [vsce, 'package', '--no-dependencies', '--out', half], stage);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.copyFileSync(half, `${target}.half`); // the target may be on another disk
    fs.renameSync(`${target}.half`, target);
  } finally {
    fs.rmSync(stage, { recursive: true, force: true });
  }
  console.log(`${path.relative(process.cwd(), target)}: ${Math.ceil(fs.statSync(target).size / 1024)} KiB`);
}

await main().catch(die);
