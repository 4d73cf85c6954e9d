import os from 'node:os';
import path from 'node:path';
import { bootId } from './bootId';
import { errorCode } from './disk';
import { readLockHolder, type LockHolder } from './lock';

/**
 * The process that owns the archive in `dir`, as far as its lock file tells and that process lives. Takes no lock and
 * writes nothing, so it is a hint for people, never a reason to write or not to write.
 */
export async function livingHolder(dir: string): Promise<LockHolder | undefined> {
  const holder = await readLockHolder(path.join(dir, 'lock'));
  if (!holder || holder.host !== os.hostname() || holder.bootId !== (await bootId())) return undefined;
  return lives(holder.pid) ? holder : undefined;
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (e) {
    // A process of another user may not be signalled, and lives.
    return errorCode(e) !== 'ESRCH';
  }
}
