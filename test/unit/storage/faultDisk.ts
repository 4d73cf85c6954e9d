import { nodeDisk, type Disk, type DiskFile } from '../../../extension/storage/disk';

export type Call = 'write' | 'truncate' | 'datasync' | 'sync' | 'open' | 'rename' | 'unlink' | 'syncFolder';

/** The real disk, but for the calls that `fault` fails: it throws, or says how many bytes a write takes. */
export function faultDisk(
  fault: (call: Call, bytes: number) => number | undefined,
): Disk & { calls: Call[] } {
  const calls: Call[] = [];
  const check = (call: Call, bytes = 0): number | undefined => {
    calls.push(call);
    return fault(call, bytes);
  };
  const wrap = (file: DiskFile): DiskFile => ({
    size: () => file.size(),
    read: (into, at) => file.read(into, at),
    write: async (bytes, at) => {
      const taken = check('write', bytes.length);
      return file.write(taken === undefined ? bytes : bytes.subarray(0, taken), at);
    },
    truncate: async size => {
      check('truncate');
      await file.truncate(size);
    },
    datasync: async () => {
      check('datasync');
      await file.datasync();
    },
    sync: async () => {
      check('sync');
      await file.sync();
    },
    close: () => file.close(),
  });
  return {
    calls,
    open: async (name, mode) => {
      check('open');
      return wrap(await nodeDisk.open(name, mode));
    },
    rename: async (from, to) => {
      check('rename');
      await nodeDisk.rename(from, to);
    },
    unlink: async name => {
      check('unlink');
      await nodeDisk.unlink(name);
    },
    syncFolder: async folder => {
      check('syncFolder');
      await nodeDisk.syncFolder(folder);
    },
  };
}

export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: made by the test`), { code });
}

/**
 * The real disk of a process that dies at its call number `at` (from 0): that call and all later ones do nothing and
 * throw. `called` hears of each call before.
 */
export function crashDisk(at: number, called: (call: Call) => void = () => {}): Disk & { calls: Call[] } {
  let n = 0;
  return faultDisk(call => {
    if (n++ >= at) throw new Error('the process crashed');
    called(call);
    return undefined;
  });
}
