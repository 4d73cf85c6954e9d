// Builds every bundle. `node esbuild.mjs` for development, `--production` for the VSIX, `--tests` adds the tests,
// `--watch` builds again at each change, `--out FOLDER` builds there instead of into dist.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import esbuild from 'esbuild';
import { thirdPartyNotice } from './scripts/notices.mjs';

const root = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
const {
  production,
  watch,
  tests: withTests,
  out,
} = parseArgs({
  options: {
    production: { type: 'boolean', default: false },
    watch: { type: 'boolean', default: false },
    tests: { type: 'boolean', default: false },
    out: { type: 'string', default: 'dist' },
  },
}).values;

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
    outfile: `${out}/extension.js`,
    format: 'cjs',
    external: ['vscode'],
  },
  // `.cjs`, loaded by the loader through createRequire: see extension/pi/loader.mjs for why.
  { ...common, entryPoints: ['extension/pi/index.ts'], outfile: `${out}/pi/index.cjs`, format: 'cjs' },
  {
    ...common,
    entryPoints: ['extension/cli/main.ts'],
    outfile: `${out}/cli.mjs`,
    format: 'esm',
    // What bundled CommonJS code expects to find, and an ES module has not got.
    banner: {
      js: [
        '#!/usr/bin/env node',
        "import { createRequire as __createRequire } from 'node:module';",
        'const require = __createRequire(import.meta.url);',
        "const __filename = require('node:url').fileURLToPath(import.meta.url);",
        "const __dirname = require('node:path').dirname(__filename);",
      ].join('\n'),
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
  for (const at of [`${out}/native`, `${out}/pi/native`])
    for (const p of PLATFORMS) {
      const to = path.resolve(root, at, p);
      fs.mkdirSync(to, { recursive: true });
      fs.copyFileSync(
        path.join(prebuilds, p, 'fs-native-extensions.node'),
        path.join(to, 'fs-native-extensions.node'),
      );
    }
  fs.copyFileSync(path.join(root, 'extension/pi/loader.mjs'), path.resolve(root, out, 'pi/loader.mjs'));
}

let building = 0;
/** Says when a round of builds begins and ends, which an editor's task waits for. @type {import('esbuild').Plugin} */
const rounds = {
  name: 'rounds',
  setup(build) {
    build.onStart(() => {
      if (building++ === 0) console.log('building');
    });
    build.onEnd(() => {
      if (--building === 0) console.log('built');
    });
  },
};

if (watch) {
  copyAssets();
  await Promise.all(
    jobs.map(async job => {
      const context = await esbuild.context({ ...job, plugins: [...(job.plugins ?? []), rounds] });
      await context.watch();
    }),
  );
} else {
  const results = await Promise.all(jobs.map(job => esbuild.build({ ...job, metafile: true }))).catch(
    error => {
      if (error instanceof Error && 'errors' in error) process.exit(1); // esbuild has printed them
      throw error;
    },
  );
  copyAssets();
  if (production) {
    const notice = thirdPartyNotice(
      root,
      results.map(result => result.metafile),
      ['fs-native-extensions'],
    );
    fs.writeFileSync(path.resolve(root, out, 'THIRD_PARTY.txt'), notice);
  }
}
