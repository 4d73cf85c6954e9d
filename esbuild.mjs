// Builds every bundle. `node esbuild.mjs` for development, `--production` for the VSIX, `--tests` adds the tests,
// `--watch` builds again at each change.
import fs from 'node:fs';
import path from 'node:path';
import esbuild from 'esbuild';

const root = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const production = process.argv.includes('--production');
const watch = process.argv.includes('--watch');
const withTests = process.argv.includes('--tests');

/** The desktop platforms that fs-native-extensions has a prebuilt lock for. */
const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64', 'win32-arm64'];

/**
 * fs-native-extensions looks for its native part beside its own file, which a bundle has not got. Its loader is
 * replaced by a plain `require` of `native/<platform>-<arch>/` beside the bundle. A missing file throws inside
 * `storage/lock.ts`, which then says that locks are unavailable here.
 * @type {import('esbuild').Plugin}
 */
const nativeLock = {
  name: 'native-lock',
  setup(build) {
    build.onResolve({ filter: /^\.\/binding$/ }, args =>
      args.importer.includes('fs-native-extensions')
        ? { path: args.path, namespace: 'native-lock', pluginData: { dir: path.dirname(args.importer) } }
        : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'native-lock' }, args => ({
      resolveDir: args.pluginData.dir,
      contents: `module.exports = require(require('node:path').join(__dirname, 'native', process.platform + '-' + process.arch, 'fs-native-extensions.node'));`,
    }));
  },
};

/** @type {import('esbuild').BuildOptions} */
const common = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  minify: production,
  sourcemap: production ? false : 'linked',
  logLevel: 'warning',
  legalComments: 'none',
  plugins: [nativeLock],
};

/** @type {import('esbuild').BuildOptions[]} */
const jobs = [
  {
    ...common,
    entryPoints: ['extension/extension.ts'],
    outfile: 'dist/extension.js',
    format: 'cjs',
    external: ['vscode'],
  },
  // `.cjs`, loaded by the loader through createRequire: see extension/pi/loader.mjs for why.
  { ...common, entryPoints: ['extension/pi/index.ts'], outfile: 'dist/pi/index.cjs', format: 'cjs' },
  {
    ...common,
    entryPoints: ['extension/cli/main.ts'],
    outfile: 'dist/cli.mjs',
    format: 'esm',
    banner: {
      js: "#!/usr/bin/env node\nimport { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);\nconst __dirname = import.meta.dirname ?? require('node:path').dirname(require('node:url').fileURLToPath(import.meta.url));",
    },
  },
];
if (withTests) {
  const tests = fs
    .readdirSync(path.join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter(f => /\.(test|child)\.ts$/.test(f))
    .map(f => `test/${f.split(path.sep).join('/')}`);
  jobs.push({
    ...common,
    entryPoints: tests,
    outdir: 'out/test',
    outbase: 'test',
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    // The scripts that tests share with the runners are ES modules, and ask where they are.
    banner: { js: "const __importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
    define: { 'import.meta.url': '__importMetaUrl' },
    // Tests run in the checkout, where node_modules is at hand.
    packages: 'external',
    external: ['vscode'],
    plugins: [],
    minify: false,
    sourcemap: 'linked',
  });
}

function copyAssets() {
  const prebuilds = path.join(root, 'node_modules/fs-native-extensions/prebuilds');
  for (const at of ['dist/native', 'dist/pi/native'])
    for (const p of PLATFORMS) {
      const to = path.join(root, at, p);
      fs.mkdirSync(to, { recursive: true });
      fs.copyFileSync(
        path.join(prebuilds, p, 'fs-native-extensions.node'),
        path.join(to, 'fs-native-extensions.node'),
      );
    }
  fs.copyFileSync(path.join(root, 'extension/pi/loader.mjs'), path.join(root, 'dist/pi/loader.mjs'));
}

if (watch) {
  copyAssets();
  await Promise.all(jobs.map(async job => (await esbuild.context(job)).watch()));
} else {
  await Promise.all(jobs.map(job => esbuild.build(job)));
  copyAssets();
}
