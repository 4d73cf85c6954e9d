import type { ArchivePlace } from '../archive/heldArchives';
import type { SessionIdentity } from '../archive/requests';
import { openArchiveFolder } from './archiveFolder';
import { MemoryBlobs } from './memoryBlobs';
import { MemoryJournal } from './memoryJournal';
import { relatedJournals } from './relatedArchives';

/**
 * Where a session's archive is kept: its folder, or this process's memory alone for a session that Pi keeps no file
 * for. `runFile` is written into the lock for those who look for the owner. Throws what a broken system call throws.
 */
export async function openSessionPlace(
  root: string,
  identity: SessionIdentity,
  runFile?: string,
): Promise<ArchivePlace> {
  if (identity.sessionFile !== undefined) {
    const opened = await openArchiveFolder(root, identity, runFile);
    return opened.state === 'opened' ? { ...opened, related: () => relatedJournals(root, identity) } : opened;
  }
  const journal = new MemoryJournal();
  const { source } = journal;
  return { state: 'opened', journal, blobs: new MemoryBlobs(), source, close: () => Promise.resolve() };
}
