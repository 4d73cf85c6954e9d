import { chmod, lstat, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { errorCode } from './disk';

/** A folder that Strata won't keep private things in. The message says why, and what to do. */
export class UnsafeFolderError extends Error {
  constructor(folder: string, what: string, advice: string) {
    super(`${folder} ${what}. Nothing was written there. ${advice}`);
    this.name = 'UnsafeFolderError';
  }
}

/**
 * Makes `folder` with mode 0700 whatever the umask (parents too, where they are missing), or checks that an existing
 * one is a real folder of this user that nobody else can write to; an existing one is never changed. Throws
 * `UnsafeFolderError`, or the system's error.
 */
export async function privateFolder(folder: string): Promise<void> {
  await mkdir(path.dirname(folder), { recursive: true, mode: 0o700 });
  try {
    await mkdir(folder, { mode: 0o700 });
    if (process.platform !== 'win32') await chmod(folder, 0o700);
  } catch (e) {
    if (errorCode(e) !== 'EEXIST') throw e;
  }
  await checkPrivateFolder(folder);
}

/** The checks of `privateFolder` alone. Rejects with `ENOENT` when there is no such folder. */
export async function checkPrivateFolder(folder: string): Promise<void> {
  const stats = await lstat(folder);
  if (stats.isSymbolicLink())
    throw new UnsafeFolderError(folder, 'is a symbolic link', 'Put a real folder in its place.');
  if (!stats.isDirectory()) throw new UnsafeFolderError(folder, 'is not a folder', 'Move it away.');
  if (process.getuid === undefined) return;
  if (stats.uid !== process.getuid())
    throw new UnsafeFolderError(folder, 'belongs to another user', 'Choose another archive root.');
  if ((stats.mode & 0o022) !== 0)
    throw new UnsafeFolderError(folder, 'can be written by other users', `Run: chmod 700 '${folder}'`);
}
