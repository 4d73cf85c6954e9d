import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** Every file and folder below `folder`, itself included: its hash and mode, and when it was last changed, in nanoseconds. */
export function snapshot(folder: string): Record<string, string> {
  const all = ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })].sort();
  return Object.fromEntries(
    all.map(name => {
      const at = path.join(folder, name);
      const stats = lstatSync(at, { bigint: true });
      const what = stats.isFile() ? createHash('sha256').update(readFileSync(at)).digest('hex') : 'no file';
      return [name, `${what} ${stats.mode.toString(8)} ${stats.mtimeNs}`];
    }),
  );
}
