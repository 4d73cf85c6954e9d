import path from 'node:path';
import type { JournalSource } from '../archive/ports';
import type { SessionIdentity } from '../archive/requests';
import { listArchives } from './archiveList';
import { journalName } from './journal';
import { journalSource } from './journalSource';

/** More archives of one origin than anybody keeps are not looked at. */
const MOST = 4;

/**
 * The journals of archives whose session this one began as: the session it was forked or cloned from, and others of the
 * same id, whose file was copied. For reading only, newest first.
 */
export async function relatedJournals(root: string, identity: SessionIdentity): Promise<JournalSource[]> {
  const { sessionId, cwd, parentSession } = identity;
  const related = (await listArchives(root)).flatMap(archive => {
    if (archive.state !== 'ok') return [];
    const { config } = archive;
    const same = config.sessionId === sessionId;
    if (same && config.cwd === cwd) return [];
    const parent =
      parentSession !== undefined &&
      config.sessionFile !== undefined &&
      path.resolve(config.cwd, parentSession) === path.resolve(config.sessionFile);
    return same || parent ? [archive] : [];
  });
  return related
    .sort((a, b) => b.modified - a.modified)
    .slice(0, MOST)
    .map(({ dir, config }) => journalSource(path.join(dir, journalName(config.generation))));
}
