// `npm run soak -- [--turns N] [--seed S]`: long use of a real Pi with reloads, kills and torn files. See test/soak.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { ROOT, die } from './tools.mjs';

/** @param {readonly string[]} args */
function node(args) {
  const run = spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
  if (run.error) throw run.error;
  return run.status ?? 2;
}

try {
  const { values } = parseArgs({
    options: { turns: { type: 'string', default: '100' }, seed: { type: 'string', default: '1' } },
  });
  process.exitCode =
    node(['esbuild.mjs']) ||
    node(['esbuild.mjs', '--tests']) ||
    node(['--enable-source-maps', 'out/test/soak/soak.child.cjs', 'run', values.seed, values.turns]);
} catch (error) {
  die(error);
}
