// `npm run vectors -- FILE`: builds the vector runner and runs it over a file. See test/vectors/run.ts.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import esbuild from 'esbuild';

const root = path.dirname(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'strata-vectors-'));
try {
  const outfile = path.join(folder, 'run.cjs');
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: ['test/vectors/run.ts'],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    logLevel: 'warning',
    sourcemap: 'inline',
  });
  const run = spawnSync(process.execPath, ['--enable-source-maps', outfile, ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  if (run.error) throw run.error;
  process.exitCode = run.status ?? 2;
} finally {
  fs.rmSync(folder, { recursive: true, force: true });
}
