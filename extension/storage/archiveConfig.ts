import type { SessionId } from '../archive/ids';
import type { SessionIdentity } from '../archive/requests';
import { atomicWrite } from './atomicFile';
import { errorCode, nodeDisk, openPrivate, type Disk } from './disk';
import { reasonOf } from './journalError';

/** The newest layout of an archive folder that this version reads and writes. */
export const ARCHIVE_FORMAT = 1;

/** `config.json`: whose archive a folder is. Holds no credentials. */
export interface ArchiveConfig {
  readonly format: number;
  /** Which `journal-<generation>.jsonl` is the archive's. */
  readonly generation: number;
  readonly sessionId: SessionId;
  /** Real path. */
  readonly cwd: string;
  readonly sessionFile?: string;
  readonly parentSession?: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  /** A generation that is being written beside the archive's own; nothing in it was ever acknowledged. */
  readonly writing?: number;
  /** The generation before this one, and how many bytes the new journal had when it took its place. */
  readonly replaced?: Replaced;
}
export interface Replaced {
  readonly generation: number;
  readonly bytes: number;
}
export type ConfigRead =
  | { readonly state: 'read'; readonly config: ArchiveConfig; readonly fields: Fields }
  | { readonly state: 'missing' }
  | { readonly state: 'bad'; readonly reason: string };

type Fields = Readonly<Record<string, unknown>>;

const MAX_CONFIG_BYTES = 1024 * 1024;

export function newConfig(identity: SessionIdentity): ArchiveConfig {
  return {
    format: ARCHIVE_FORMAT,
    generation: 1,
    sessionId: identity.sessionId,
    cwd: identity.cwd,
    ...(identity.sessionFile !== undefined && { sessionFile: identity.sessionFile }),
    ...(identity.parentSession !== undefined && { parentSession: identity.parentSession }),
    created: Date.now(),
  };
}

/** Replaces `config.json` as a whole. `fields` are those read before: what another version wrote is kept. */
export async function writeConfig(
  file: string,
  config: ArchiveConfig,
  fields: Fields = {},
  disk: Disk = nodeDisk,
): Promise<void> {
  // These two are only true as long as `config` says so.
  const { writing: _writing, replaced: _replaced, ...others } = fields;
  await atomicWrite(file, `${JSON.stringify({ ...others, ...config }, undefined, 2)}\n`, disk);
}

/** Never throws: a file that can't be read or understood is `bad`, with a sentence that says why. */
export async function readConfig(file: string): Promise<ConfigRead> {
  let text: string;
  try {
    const handle = await openPrivate(file, 'read');
    try {
      if ((await handle.stat()).size > MAX_CONFIG_BYTES)
        return { state: 'bad', reason: `${file} is too large to be a configuration.` };
      text = await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  } catch (e) {
    return errorCode(e) === 'ENOENT' ? { state: 'missing' } : { state: 'bad', reason: reasonOf(e) };
  }
  return parseConfig(file, text);
}

function parseConfig(file: string, text: string): ConfigRead {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { state: 'bad', reason: `${file} is not valid JSON.` };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { state: 'bad', reason: `${file} is not a configuration.` };
  const fields = value as Fields;
  const { format, generation, sessionId, cwd, sessionFile, parentSession, created, writing, replaced } =
    fields;
  if (!isCount(format)) return { state: 'bad', reason: `${file} has no format number.` };
  if (format > ARCHIVE_FORMAT)
    return {
      state: 'bad',
      reason: `${file} was written by a newer Strata (format ${format}, this one knows ${ARCHIVE_FORMAT}). Update Strata.`,
    };
  if (
    !isCount(generation) ||
    typeof sessionId !== 'string' ||
    typeof cwd !== 'string' ||
    typeof created !== 'number' ||
    !isTextOrAbsent(sessionFile) ||
    !isTextOrAbsent(parentSession) ||
    !isLaterOrAbsent(writing, generation) ||
    !isReplacedOrAbsent(replaced, generation)
  )
    return { state: 'bad', reason: `${file} lacks a field or has one of a wrong type.` };
  const config: ArchiveConfig = {
    format,
    generation,
    sessionId: sessionId as SessionId,
    cwd,
    ...(sessionFile !== undefined && { sessionFile }),
    ...(parentSession !== undefined && { parentSession }),
    created,
    ...(writing !== undefined && { writing }),
    ...(replaced !== undefined && { replaced }),
  };
  return { state: 'read', config, fields };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

function isLaterOrAbsent(value: unknown, generation: number): value is number | undefined {
  return value === undefined || (isCount(value) && value > generation);
}

function isReplacedOrAbsent(value: unknown, generation: number): value is Replaced | undefined {
  if (value === undefined) return true;
  if (typeof value !== 'object' || value === null) return false;
  const { generation: before, bytes } = value as Fields;
  return (
    isCount(before) &&
    before < generation &&
    typeof bytes === 'number' &&
    Number.isSafeInteger(bytes) &&
    bytes >= 0
  );
}
