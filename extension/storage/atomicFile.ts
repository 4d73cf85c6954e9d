import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { errorCode, nodeDisk, type Disk } from './disk';

const TEMPORARY = /^\..+\.[0-9a-f]{12}\.tmp$/;

/**
 * Replaces `file` as a whole: after a crash at any point the old or the new content is there, complete, and the new
 * one is durable once this resolves. Mode 0600 whatever the umask. Each call has its own temporary name, so two
 * writers don't mix; the later rename wins. Throws the system's error, with the old content untouched.
 */
export async function atomicWrite(
  file: string,
  content: Uint8Array | string,
  disk: Disk = nodeDisk,
): Promise<void> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const folder = path.dirname(file);
  const temporary = path.join(folder, `.${path.basename(file)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const handle = await disk.open(temporary, 'create');
    try {
      for (let done = 0; done < bytes.length;) {
        const taken = await handle.write(bytes.subarray(done), done);
        if (taken === 0) throw new Error(`${temporary} takes no more bytes.`);
        done += taken;
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    await disk.rename(temporary, file);
  } catch (e) {
    await disk.unlink(temporary).catch(() => undefined);
    throw e;
  }
  await disk.syncFolder(folder);
}

/**
 * Removes what writers that ended half-way left in a folder. Only for a folder whose one writer is the caller, by a
 * lock: any other writer's file would be taken from under it. A missing folder has none.
 */
export async function removeTemporaries(folder: string, disk: Disk = nodeDisk): Promise<void> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (e) {
    if (errorCode(e) === 'ENOENT') return;
    throw e;
  }
  for (const name of names) if (TEMPORARY.test(name)) await disk.unlink(path.join(folder, name));
}
