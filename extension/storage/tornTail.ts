import path from 'node:path';
import { errorCode, type Disk, type DiskFile } from './disk';

const COPY_BYTES = 4 * 1024 * 1024;

/**
 * Cuts everything from byte `end` on, after a copy of it is on stable storage beside the journal. Returns the copy's
 * path. If any call fails, the journal has all its bytes still, or the copy is durable; a crash in between leaves a
 * copy that the next opening makes again under another name.
 */
export async function cutTornTail(
  disk: Disk,
  journal: string,
  file: DiskFile,
  end: number,
  size: number,
): Promise<string> {
  const kept = await copyTail(disk, journal, file, end, size);
  await file.truncate(end);
  await file.sync();
  await disk.syncFolder(path.dirname(journal));
  return kept;
}

async function copyTail(
  disk: Disk,
  journal: string,
  from: DiskFile,
  start: number,
  size: number,
): Promise<string> {
  const { name, file } = await createNew(disk, path.join(path.dirname(journal), `journal.broken-${stamp()}`));
  try {
    const buffer = Buffer.allocUnsafe(Math.min(COPY_BYTES, size - start));
    for (let at = start; at < size;) {
      const n = await from.read(buffer.subarray(0, Math.min(buffer.length, size - at)), at);
      if (n === 0) throw new Error(`${journal} became shorter while its end was copied.`);
      for (let done = 0; done < n;) {
        const taken = await file.write(buffer.subarray(done, n), at - start + done);
        if (taken === 0) throw new Error(`${name} takes no more bytes.`);
        done += taken;
      }
      at += n;
    }
    await file.sync();
  } finally {
    await file.close();
  }
  await disk.syncFolder(path.dirname(name));
  return name;
}

async function createNew(disk: Disk, base: string): Promise<{ name: string; file: DiskFile }> {
  for (let i = 1; ; i++) {
    const name = i === 1 ? base : `${base}-${i}`;
    try {
      return { name, file: await disk.open(name, 'create') };
    } catch (e) {
      if (errorCode(e) !== 'EEXIST' || i === 1000) throw e;
    }
  }
}

/** UTC, in a form that every file system takes. */
function stamp(): string {
  return new Date().toISOString().replaceAll(':', '-').replace('.', '-');
}
