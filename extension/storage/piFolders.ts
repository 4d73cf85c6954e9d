import { homedir } from 'node:os';
import path from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Pi's own folder: `PI_CODING_AGENT_DIR`, else `~/.pi/agent`. Absolute. */
export function agentDir(env: Environment = process.env): string {
  const set = env['PI_CODING_AGENT_DIR'];
  return set ? path.resolve(withoutTilde(set)) : path.join(homedir(), '.pi', 'agent');
}

/** Where Pi keeps sessions when it is told to keep them apart: `PI_CODING_AGENT_SESSION_DIR`, absolute. */
export function sessionDirOf(env: Environment = process.env): string | undefined {
  const set = env['PI_CODING_AGENT_SESSION_DIR'];
  return set ? path.resolve(withoutTilde(set)) : undefined;
}

/** Where archives lie: the setting `strata.archiveRoot` when it is not empty, else `strata` in Pi's folder. Absolute. */
export function archiveRoot(setting?: string, env: Environment = process.env): string {
  const chosen = setting?.trim();
  return chosen ? path.resolve(withoutTilde(chosen)) : path.join(agentDir(env), 'strata');
}

/** Pi reads a leading `~` as the home folder, so a value that works there has to work here. */
export function withoutTilde(file: string): string {
  if (file === '~') return homedir();
  if (file.startsWith('~/') || (process.platform === 'win32' && file.startsWith('~\\')))
    return path.join(homedir(), file.slice(2));
  return file;
}
