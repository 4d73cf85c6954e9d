import { readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { Archive } from '../archive/archive';
import { importSession, type ImportResult } from '../archive/importSession';
import { linesOf, parseSessionFile, type SessionFile } from '../archive/sessionFile';
import type { SessionIdentity } from '../archive/requests';
import { openArchiveFolder, type OpenedArchive } from '../storage/archiveFolder';
import { archiveRoot } from '../storage/piFolders';
import { CliError, type Command } from './command';
import { counted, printJson, printLines, remark } from './print';

export const importCommand: Command = {
  name: 'import',
  usage: 'import FILE [--root DIR] [--json]',
  summary: "put a Pi session file's messages into its archive",
  help:
    'Reads a Pi session file of format 1, 2 or 3 and stores every message of every branch in the archive of that\n' +
    'session. What is there already is not stored again. No model is called, and the file itself is only read.\n\n' +
    "  --root DIR   where archives lie (default: strata in Pi's folder, ~/.pi/agent or PI_CODING_AGENT_DIR)",
  takes: ['FILE'],
  options: ['root'],
  async run({ args, options, json }) {
    const name = path.resolve(args[0] as string);
    const file = await readSession(name);
    const opened = await open(archiveRoot(options['root']), await identityOf(name, file));
    try {
      const archive = await Archive.open({
        journal: opened.journal,
        blobs: opened.blobs,
        clock: { now: () => Date.now() },
        log: { info: () => {}, warn: remark, error: remark },
      });
      const result = await importSession(archive, file);
      await archive.close();
      if (json) printJson({ dir: opened.dir, ...result, problems: file.problems });
      else printLines(report(opened.dir, result, file));
      return 0;
    } finally {
      await opened.close();
    }
  },
};

async function readSession(name: string): Promise<SessionFile> {
  let bytes: Buffer;
  try {
    bytes = await readFile(name);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') throw new CliError(`There is no file ${name}.`);
    if (code === 'EISDIR') throw new CliError(`${name} is a folder, not a session file.`);
    throw new CliError(`${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  const file = parseSessionFile(linesOf(bytes));
  if (!file) throw new CliError(`${name} is no Pi session file: its first line is no session header.`);
  return file;
}

/** The folder may be one of another machine; where it exists here, its real path names the archive, as for a live Pi. */
async function identityOf(name: string, { header }: SessionFile): Promise<SessionIdentity> {
  const cwd = await realpath(header.cwd).catch(() => header.cwd);
  const { parentSession } = header;
  return {
    sessionId: header.id,
    cwd,
    sessionFile: await realpath(name),
    ...(parentSession !== undefined && { parentSession }),
  };
}

async function open(
  root: string,
  identity: SessionIdentity,
): Promise<Extract<OpenedArchive, { state: 'opened' }>> {
  const opened = await openArchiveFolder(root, identity);
  switch (opened.state) {
    case 'opened':
      return opened;
    case 'locked':
      throw new CliError(
        `The archive ${opened.dir} is in use${opened.by ? ` by process ${opened.by.pid}` : ''}. Close that session and try again.`,
      );
    case 'no-locks':
    case 'refused':
      throw new CliError(opened.reason);
  }
}

function report(dir: string, result: ImportResult, file: SessionFile): string[] {
  const { messages, empty, records, branches, skipped, added } = result;
  const lines = [
    added === 0
      ? `Nothing new: ${dir} has all of this session already.`
      : `Imported ${counted(added, 'message')} into ${dir}`,
    `  ${counted(messages, 'message')} in the file${empty > 0 ? `, ${empty} of them without visible content` : ''}`,
    `  ${counted(records, 'record')} on ${counted(branches, 'branch', 'branches')}`,
    `  ${counted(skipped, 'line')} skipped`,
  ];
  for (const { line, text } of file.problems) lines.push(`  line ${line}: ${text}`);
  return lines;
}
