import { constants, promises as fs } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { sessionDirOf, withoutTilde, type Environment } from './piFolders';

/** More than a person writes into Pi's settings. */
const MAX_SETTINGS_BYTES = 1024 * 1024;

export interface SessionDirsOptions {
  /** Pi's own folder. */
  readonly agentDir: string;
  /** Real paths of the folders whose sessions are looked for. */
  readonly folders: readonly string[];
  /** Whether the folders' own settings count: they name any folder of this machine. */
  readonly trusted: boolean;
  readonly env?: Environment;
}

/** Files of Pi's settings that may say where sessions lie: its own, and those of each folder. */
export function piSettingsFiles({ agentDir, folders, trusted }: SessionDirsOptions): readonly string[] {
  return [settingsOf(agentDir), ...(trusted ? folders.map(f => settingsOf(path.join(f, '.pi'))) : [])];
}

/**
 * Folders beside `<agent dir>/sessions` in which Pi keeps sessions of these folders: `PI_CODING_AGENT_SESSION_DIR`, and
 * `sessionDir` of Pi's settings (spec/pi.md 3.1). All of them, not only the one that counts now: sessions of before a
 * change lie in the other. A relative one is below the folder in which Pi runs. Never rejects; settings that can't be
 * read say nothing.
 */
export async function sessionDirs(options: SessionDirsOptions): Promise<readonly string[]> {
  const { agentDir, folders, trusted, env } = options;
  const found = new Set<string>();
  const inEnvironment = sessionDirOf(env);
  if (inEnvironment !== undefined) found.add(inEnvironment);
  const everywhere = await sessionDirIn(settingsOf(agentDir));
  for (const folder of folders) {
    const own = trusted ? await sessionDirIn(settingsOf(path.join(folder, '.pi'))) : undefined;
    for (const dir of [everywhere, own]) if (dir !== undefined) found.add(path.resolve(folder, dir));
  }
  return [...found];
}

function settingsOf(folder: string): string {
  return path.join(folder, 'settings.json');
}

async function sessionDirIn(file: string): Promise<string | undefined> {
  try {
    const text = await readBounded(file);
    const settings: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    if (typeof settings !== 'object' || settings === null || !('sessionDir' in settings)) return undefined;
    const { sessionDir } = settings;
    if (typeof sessionDir !== 'string' || sessionDir === '' || sessionDir.includes('\0')) return undefined;
    return sessionDir.startsWith('file://') ? fileURLToPath(sessionDir) : withoutTilde(sessionDir);
  } catch {
    return undefined;
  }
}

async function readBounded(file: string): Promise<string> {
  // Without O_NONBLOCK a FIFO of that name would hold us for ever.
  const handle = await fs.open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > MAX_SETTINGS_BYTES) throw new Error(`${file} holds no settings`);
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}
