import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { writeConfig, type ArchiveConfig } from './archiveConfig';
import { errorCode, nodeDisk, type Disk, type DiskFile } from './disk';
import { encodeFrame } from './frame';
import { journalName } from './journal';
import { JournalError, reasonOf } from './journalError';

/** An archive's `config.json` as it was read. */
export interface FoundConfig {
  readonly config: ArchiveConfig;
  readonly fields: Readonly<Record<string, unknown>>;
}
export interface Generation {
  readonly config: ArchiveConfig;
  /** The old journal, when it could not be deleted yet: the next opening does it. */
  readonly left?: string;
}

const CONFIG = 'config.json';
const JOURNAL = /^journal-([1-9]\d{0,14})\.jsonl$/;
const CHUNK_BYTES = 4 * 1024 * 1024;

/**
 * Gives the archive in `dir` a new journal of these lines (JSON, one commit each) in place of its own. The caller holds
 * the lock, and has closed the old journal. What is being written is named in the configuration first; the new file is
 * whole and durable before one rename makes it the archive's; only then the old one is deleted. So a crash between any
 * two steps leaves the old or the new, and `settleGenerations` knows which of the two files is the other.
 *
 * Throws a `JournalError` (`write`): the archive must be opened again then, with the old journal or the new one.
 */
export async function replaceJournal(
  dir: string,
  { config, fields }: FoundConfig,
  lines: AsyncIterable<string> | Iterable<string>,
  disk: Disk = nodeDisk,
): Promise<Generation> {
  const { writing: _writing, replaced: _replaced, ...base } = config;
  const generation = config.generation + 1;
  const file = path.join(dir, journalName(generation));
  const old = path.join(dir, journalName(config.generation));
  const configFile = path.join(dir, CONFIG);
  try {
    if (config.replaced) await remove(path.join(dir, journalName(config.replaced.generation)), disk);
    await writeConfig(configFile, { ...base, writing: generation }, fields, disk);
    if (config.writing !== undefined) await remove(path.join(dir, journalName(config.writing)), disk);
    const bytes = await writeJournal(file, lines, disk);
    const now: ArchiveConfig = { ...base, generation, replaced: { generation: config.generation, bytes } };
    await writeConfig(configFile, now, fields, disk);
    try {
      await remove(old, disk);
      return { config: now };
    } catch {
      return { config: now, left: old };
    }
  } catch (e) {
    throw new JournalError(
      'write',
      `A new journal beside ${old} could not be written (${reasonOf(e)}).`,
      'Nothing of what was stored is affected.',
      'Free some disk space, open the session again, and try once more.',
      e,
    );
  }
}

async function writeJournal(
  file: string,
  lines: AsyncIterable<string> | Iterable<string>,
  disk: Disk,
): Promise<number> {
  const made = await disk.open(file, 'create');
  let end = 0;
  try {
    let waiting: Buffer[] = [];
    let size = 0;
    const flush = async (): Promise<void> => {
      end = await writeFully(made, file, Buffer.concat(waiting), end);
      waiting = [];
      size = 0;
    };
    for await (const json of lines) {
      const line = encodeFrame(json);
      waiting.push(line);
      size += line.length;
      if (size >= CHUNK_BYTES) await flush();
    }
    await flush();
    await made.sync();
  } finally {
    await made.close();
  }
  await disk.syncFolder(path.dirname(file));
  return end;
}

async function writeFully(file: DiskFile, name: string, bytes: Buffer, at: number): Promise<number> {
  for (let done = 0; done < bytes.length;) {
    const taken = await file.write(bytes.subarray(done), at + done);
    if (taken === 0) throw new Error(`${name} takes no more bytes`);
    done += taken;
  }
  return at + bytes.length;
}

/** Gone, and gone for good, also when it was not there. */
async function remove(file: string, disk: Disk): Promise<void> {
  try {
    await disk.unlink(file);
  } catch (e) {
    if (errorCode(e) !== 'ENOENT') throw e;
  }
  await disk.syncFolder(path.dirname(file));
}

/**
 * Before the journal is opened: removes a new generation whose writing a crash cut short. Returns the configuration
 * from here on, or why the archive must not be opened: a newer journal that nobody announced may hold what this
 * session remembers, for instance behind a `config.json` from a backup. Nothing is changed then.
 */
export async function settleGenerations(
  dir: string,
  { config, fields }: FoundConfig,
  disk: Disk = nodeDisk,
): Promise<ArchiveConfig | { readonly refused: string }> {
  const newer = (await generationsIn(dir)).filter(n => n > config.generation && n !== config.writing);
  const [unknown] = newer;
  if (unknown !== undefined)
    return {
      refused:
        `${path.join(dir, journalName(unknown))} is newer than the journal that ${CONFIG} names. Nothing was changed. ` +
        `Restore ${CONFIG} of the same day, or move that journal away to go on with ${journalName(config.generation)}.`,
    };
  if (config.writing === undefined) return config;
  await remove(path.join(dir, journalName(config.writing)), disk);
  const { writing: _writing, ...now } = config;
  await writeConfig(path.join(dir, CONFIG), now, fields, disk);
  return now;
}

/**
 * After the archive's journal was opened and found without damage: deletes the one it took the place of, if a crash
 * left it. Throws a `JournalError` (`damaged`) when the new journal lacks some of what it had at the swap; then both stay.
 */
export async function removeReplaced(
  dir: string,
  { generation, replaced }: ArchiveConfig,
  disk: Disk = nodeDisk,
): Promise<void> {
  if (!replaced || !(await generationsIn(dir)).includes(replaced.generation)) return;
  const old = path.join(dir, journalName(replaced.generation));
  const file = path.join(dir, journalName(generation));
  const { size } = await stat(file);
  if (size < replaced.bytes)
    throw new JournalError(
      'damaged',
      `${file} has lost its last ${replaced.bytes - size} bytes.`,
      `Nothing was removed, and ${old}, which it replaced, is still there.`,
      `Restore ${file} from a backup, or move ${dir} away to start a new archive.`,
    );
  await remove(old, disk);
}

async function generationsIn(dir: string): Promise<number[]> {
  const names = await readdir(dir);
  return names.flatMap(name => JOURNAL.exec(name)?.slice(1).map(Number) ?? []);
}
