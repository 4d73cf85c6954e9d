import path from 'node:path';
import type { Journal } from '../archive/ports';
import { nodeDisk, type Disk } from './disk';
import { scanFrames } from './frameScan';
import { DiskJournal } from './journal';
import { JournalError, reasonOf } from './journalError';
import { cutTornTail } from './tornTail';

/**
 * Opens an existing journal for writing and checks every line of it. The caller must hold the archive's lock.
 * A torn last line is copied to `journal.broken-<time>` and cut; a damaged journal opens, but takes no lines.
 * Throws the system's error when the file can't be opened, and a `JournalError` (`tail`) when the torn end could not
 * be put aside.
 */
export async function openJournal(name: string, disk: Disk = nodeDisk): Promise<Journal> {
  const file = await disk.open(name, 'edit');
  try {
    const size = await file.size();
    const scan = scanFrames(file, 0, size);
    let step = await scan.next();
    while (step.done !== true) step = await scan.next();
    const { end, tail } = step.value;
    if (tail.state !== 'torn') return new DiskJournal(disk, name, file, end, tail);
    try {
      const kept = await cutTornTail(disk, name, file, end, size);
      return new DiskJournal(disk, name, file, end, { ...tail, kept });
    } catch (e) {
      throw new JournalError(
        'tail',
        `The last line of ${name} was never finished, and putting its ${tail.bytes} bytes aside failed (${reasonOf(e)}).`,
        `Nothing that was acknowledged is affected and nothing was removed.`,
        `Free some disk space, or make ${path.dirname(name)} writable, and open the session again.`,
        e,
      );
    }
  } catch (e) {
    await file.close();
    throw e;
  }
}
