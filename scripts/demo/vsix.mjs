// The extension as people install it.
import fs from 'node:fs';
import path from 'node:path';
import { must } from '../install.mjs';
import { ROOT } from '../tools.mjs';

/**
 * Builds and packages the extension as it is in this checkout.
 * @returns {Promise<string>} the path of the VSIX
 */
export async function buildVsix() {
  await must('the extension', process.execPath, [path.join(ROOT, 'scripts/package.mjs')], {
    cwd: ROOT,
    advice: 'Run `npm run lint` and `npm run build` to see what is wrong with it',
  });
  const { name, version } = /** @type {{name: string, version: string}} */ (
    JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'))
  );
  const file = path.join(ROOT, `${name}-${version}.vsix`);
  if (!fs.existsSync(file)) throw new Error(`scripts/package.mjs made no ${file}.`);
  return file;
}
