import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { ArchiveId } from '../archive/ids';
import { readConfig, type ArchiveConfig } from './archiveConfig';
import { errorCode } from './disk';
import { journalName } from './journal';
import { reasonOf } from './journalError';

const AT_ONCE = 16;

/** One folder below `<root>/sessions`. */
export type ListedArchive = { readonly id: ArchiveId; readonly dir: string } & (
  | {
      readonly state: 'ok';
      readonly config: ArchiveConfig;
      readonly journalBytes: number;
      /** Milliseconds since 1970 of the last write to the journal. */
      readonly modified: number;
    }
  | { readonly state: 'damaged'; readonly reason: string }
);

/** Every archive of a root, damaged ones too, in the order of their ids. Writes nothing; no root is no archives. */
export async function listArchives(root: string): Promise<readonly ListedArchive[]> {
  const sessions = path.join(root, 'sessions');
  let names: string[];
  try {
    names = await readdir(sessions);
  } catch (e) {
    if (errorCode(e) === 'ENOENT') return [];
    throw e;
  }
  const ids = names.filter(n => /^[0-9a-f]{24}$/.test(n)).sort() as ArchiveId[];
  const found: ListedArchive[] = [];
  // Each of them opens a file, and a process may not have thousands open.
  for (let i = 0; i < ids.length; i += AT_ONCE)
    found.push(
      ...(await Promise.all(ids.slice(i, i + AT_ONCE).map(id => look(path.join(sessions, id), id)))),
    );
  return found;
}

async function look(dir: string, id: ArchiveId): Promise<ListedArchive> {
  const read = await readConfig(path.join(dir, 'config.json'));
  if (read.state === 'bad') return { state: 'damaged', id, dir, reason: read.reason };
  if (read.state === 'missing') return { state: 'damaged', id, dir, reason: `${dir} has no config.json.` };
  const journal = path.join(dir, journalName(read.config.generation));
  try {
    const stats = await lstat(journal);
    if (!stats.isFile()) return { state: 'damaged', id, dir, reason: `${journal} is not a regular file.` };
    return { state: 'ok', id, dir, config: read.config, journalBytes: stats.size, modified: stats.mtimeMs };
  } catch (e) {
    // One that can't be read hides none of the others.
    const reason =
      errorCode(e) === 'ENOENT' ? `${journal} is missing.` : `${journal} can't be read: ${reasonOf(e)}`;
    return { state: 'damaged', id, dir, reason };
  }
}
