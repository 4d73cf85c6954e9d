import fs from 'node:fs';
import path from 'node:path';
import { sha256Hex } from '../../../extension/archive/canonical';

/** Every file of a folder with its content and time of writing, to show that nothing was touched. */
export function folderState(dir: string): Record<string, string> {
  const state: Record<string, string> = {};
  for (const name of fs.readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort()) {
    const file = path.join(dir, name);
    const { mode, mtimeMs } = fs.statSync(file);
    const content = fs.statSync(file).isFile() ? sha256Hex(fs.readFileSync(file, 'latin1')) : 'folder';
    state[name] = `${content} ${mode.toString(8)} ${mtimeMs}`;
  }
  return state;
}
