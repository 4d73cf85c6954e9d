import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Branch } from '../archive/branch';
import { ArchiveFollower } from '../archive/follower';
import type { Chain } from '../archive/ids';
import { surveyJournal, type JournalSurvey } from '../archive/journalSurvey';
import type { BlobSource, JournalSource } from '../archive/ports';
import type { ArchiveState } from '../archive/state';
import { readArchiveFolder, type ReadableArchive } from '../storage/archiveFolder';
import type { ArchiveConfig } from '../storage/archiveConfig';
import { journalName } from '../storage/journal';
import { CliError } from './command';
import { remark } from './print';

/** An archive folder, read to its end. */
export interface ReadArchive {
  readonly dir: string;
  readonly config: ArchiveConfig;
  readonly journal: string;
  readonly source: JournalSource;
  readonly blobs: BlobSource;
  readonly state: ArchiveState;
  readonly tail: ArchiveFollower['tail'];
}

const CHAIN_PREFIX = /^[0-9a-f]{4,32}$/;

/** Reads an archive without a lock and without writing. Throws a `CliError` when DIR is none. */
export async function readArchive(dir: string): Promise<ReadArchive> {
  const folder = path.resolve(dir);
  const found = await stat(folder).catch(() => undefined);
  if (!found) throw new CliError(`There is no folder ${folder}.`);
  if (!found.isDirectory()) throw new CliError(`${folder} is not a folder.`);
  const readable: ReadableArchive = await readArchiveFolder(folder);
  if (readable.state === 'refused') throw new CliError(readable.reason);
  const { config, source, blobs } = readable;
  const journal = path.join(folder, journalName(config.generation));
  const follower = new ArchiveFollower(source);
  await follower.refresh();
  if (follower.failure !== undefined) throw new CliError(`${journal} cannot be read: ${follower.failure}`);
  return { dir: folder, config, journal, source, blobs, state: follower.state, tail: follower.tail };
}

/** What its journal keeps beside its branches. Throws a `CliError` when the journal can no longer be read. */
export async function survey({ journal, source }: ReadArchive): Promise<JournalSurvey> {
  try {
    return await surveyJournal(source);
  } catch (error) {
    throw new CliError(
      `${journal} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Says on stderr what is wrong with the journal's end; for commands that can go on without what follows. */
export function remarkOnTail({ journal, tail }: ReadArchive): void {
  if (tail.state === 'damaged')
    remark(
      `${journal} is damaged at byte ${tail.offset}: ${tail.reason}. Only what stands before is shown. Nothing was changed.`,
    );
}

/** A branch by its chain, or by the beginning of it; without a name the one that was used last. */
export function branchOf({ state, dir }: ReadArchive, name: string | undefined): Branch {
  if (name === undefined) return state.branch(state.newest) as Branch;
  const names = CHAIN_PREFIX.test(name) ? chainsFrom(state, name) : [];
  const [chain, other] = names;
  if (chain === undefined)
    throw new CliError(`${dir} has no branch ${JSON.stringify(name)}; "strata status" lists them.`);
  if (other !== undefined)
    throw new CliError(`More than one branch begins with ${name}: write more of its name.`);
  return state.branch(chain) as Branch;
}

/** Tips come first: a whole branch is meant rather than a place in the middle of one. */
function chainsFrom(state: ArchiveState, prefix: string): Chain[] {
  const tips = state.tips().map(tip => tip.chain);
  const found = tips.filter(chain => chain.startsWith(prefix));
  if (found.length > 0) return found;
  const exact = state.source(prefix as Chain);
  return exact ? [exact.chain] : [];
}
