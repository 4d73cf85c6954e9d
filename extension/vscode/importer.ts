import { execFile } from 'node:child_process';
import path from 'node:path';
import type { ArchiveId } from '../archive/ids';

/** What an import found; counts are of the file, not of what was new. */
export interface Imported {
  readonly archive: ArchiveId;
  readonly messages: number;
  readonly records: number;
  /** Lines of the file that held nothing that can be read. */
  readonly skipped: number;
  readonly branches: number;
}

/** Output of the `strata` command is a few lines; more is not ours. */
const MAX_OUTPUT_BYTES = 1024 * 1024;

/**
 * Reads a Pi session file of any format into an archive by the `strata` command, in a process of its own: a file of
 * hundreds of megabytes blocks no window, and one program alone knows how to import. Reading twice adds nothing.
 * Rejects with the command's sentence when the file is no session or its archive belongs to another process.
 */
export function importSessionFile(
  cli: string,
  file: string,
  root: string,
  signal: AbortSignal,
): Promise<Imported> {
  const args = [cli, 'import', file, '--root', root, '--json'];
  const env = { ...process.env, ELECTRON_RUN_AS_NODE: '1' };
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      args,
      { env, signal, maxBuffer: MAX_OUTPUT_BYTES, windowsHide: true },
      (error, stdout, stderr) => {
        const imported = error ? undefined : parseImported(stdout);
        if (imported) return resolve(imported);
        const said = stderr.trim().split('\n').at(-1);
        reject(new Error(said || `${file} could not be read into an archive. It was not changed.`));
      },
    );
  });
}

/** The command's answer; undefined for anything that isn't one. */
export function parseImported(text: string): Imported | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { dir, messages, records, skipped, branches } = value as Record<string, unknown>;
  if (typeof dir !== 'string' || !/^[0-9a-f]{24}$/.test(path.basename(dir))) return undefined;
  if (!isCount(messages) || !isCount(records) || !isCount(skipped) || !isCount(branches)) return undefined;
  return { archive: path.basename(dir) as ArchiveId, messages, records, skipped, branches };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
