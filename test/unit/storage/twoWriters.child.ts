import { closeSync, openSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { Archive } from '../../../extension/archive/archive';
import { openArchiveFolder } from '../../../extension/storage/archiveFolder';
import { ME, said } from './archives';

const SILENT = { info: () => {}, warn: () => {}, error: () => {} };

/**
 * `append ROOT NAME COUNT`: appends that many messages under its name to one archive, ten each time it gets the lock. Holds
 * a file made with `wx` meanwhile, which fails when somebody else holds it too. Prints how often it was locked out
 * and by whom.
 */
async function main(): Promise<void> {
  const [, , mode, root = '', name = '', count = '0'] = process.argv;
  // A runner that takes this for a test must not write anywhere.
  if (mode !== 'append') return;
  const overlap = path.join(root, 'overlap');
  let lockedOut = 0;
  const holders = new Set<number | undefined>();
  for (let sent = 0; sent < Number(count);) {
    const opened = await openArchiveFolder(root, ME);
    if (opened.state === 'locked') {
      lockedOut++;
      if (opened.by) holders.add(opened.by.pid);
      await new Promise(resolve => setTimeout(resolve, 2));
      continue;
    }
    if (opened.state !== 'opened') throw new Error(opened.reason);
    closeSync(openSync(overlap, 'wx'));
    const { journal, blobs } = opened;
    const archive = await Archive.open({ journal, blobs, clock: { now: () => Date.now() }, log: SILENT });
    if (archive.readOnly !== undefined) throw new Error(archive.readOnly);
    for (let i = 0; i < 10; i++, sent++)
      await archive.append({
        capture: { marker: name, ordinal: sent, role: 'user' },
        message: said(`${name} ${sent}`),
      });
    await archive.close();
    unlinkSync(overlap);
    await opened.close();
    await new Promise(resolve => setTimeout(resolve, 2));
  }
  process.stdout.write(JSON.stringify({ lockedOut, holders: [...holders] }));
}

void main();
