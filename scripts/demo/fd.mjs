// Finds files for Pi's `@` completion where no `fd` is installed: Pi would fetch one from the network or print a
// warning on its first screen. Only what that completion asks for is understood; anything else is refused.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'base-directory': { type: 'string', default: '.' },
    'max-results': { type: 'string', default: '1000' },
    'max-depth': { type: 'string', default: '64' },
    type: { type: 'string', multiple: true, default: ['f', 'd'] },
    exclude: { type: 'string', multiple: true, default: [] },
    'full-path': { type: 'boolean', default: false },
    follow: { type: 'boolean', default: false },
    hidden: { type: 'boolean', default: false },
    version: { type: 'boolean', default: false },
  },
});
if (values.version) {
  console.log('file finder of the Strata demo');
  process.exit(0);
}

const [query = ''] = positionals;
// Smart case, as fd has it: only a query with a capital letter tells capitals apart.
const pattern = new RegExp(query, /[A-Z]/.test(query) ? 'u' : 'iu');
const skipped = new Set(['node_modules', ...values.exclude]);
const base = path.resolve(values['base-directory']);
let left = Number(values['max-results']);

/** @param {string} folder relative to the base @param {number} depth */
function walk(folder, depth) {
  for (const entry of fs.readdirSync(path.join(base, folder), { withFileTypes: true })) {
    if (left <= 0) return;
    if (skipped.has(entry.name) || (entry.name.startsWith('.') && !values.hidden)) continue;
    const relative = path.join(folder, entry.name);
    const isFolder = entry.isDirectory();
    const subject = values['full-path'] ? path.join(base, relative) : entry.name;
    if (values.type.includes(isFolder ? 'd' : 'f') && pattern.test(subject)) {
      console.log(isFolder ? relative + path.sep : relative);
      left -= 1;
    }
    if (isFolder && depth < Number(values['max-depth'])) walk(relative, depth + 1);
  }
}
walk('', 1);
