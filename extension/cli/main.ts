import { ArchiveError } from '../archive/archiveError';
import { CliError, readArguments, type Command } from './command';
import { importCommand } from './importCommand';
import { printLines, remark } from './print';
import { statusCommand } from './statusCommand';
import { verifyCommand } from './verifyCommand';
import { viewCommand } from './viewCommand';
import { zoomCommand } from './zoomCommand';

const COMMANDS: readonly Command[] = [importCommand, statusCommand, viewCommand, zoomCommand, verifyCommand];

/** Runs `strata` with these arguments; gives the exit code: 0, 1 when something is wrong, 2 for wrong usage. */
async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    printLines(overview());
    return name === undefined ? 2 : 0;
  }
  const command = COMMANDS.find(each => each.name === name);
  if (!command)
    throw new CliError(`There is no command ${JSON.stringify(name)}. "strata --help" lists them.`, 2);
  const args = readArguments(command, rest);
  if (args !== 'help') return command.run(args);
  printLines([
    `Usage: strata ${command.usage}`,
    '',
    command.help,
    '',
    '  --json       print one JSON document',
  ]);
  return 0;
}

function overview(): string[] {
  const width = Math.max(...COMMANDS.map(({ usage }) => usage.length));
  return [
    'strata: what a Pi session remembers, on the command line',
    '',
    ...COMMANDS.map(({ usage, summary }) => `  strata ${usage.padEnd(width)}  ${summary}`),
    '',
    '"strata COMMAND --help" says more.',
  ];
}

/** A person sees one sentence; only what nobody foresaw comes with a stack. */
function explain(error: unknown): number {
  if (error instanceof CliError) {
    remark(`strata: ${error.message}`);
    return error.code;
  }
  if (error instanceof ArchiveError) remark(`strata: ${error.message}`);
  else
    remark(`strata: unexpected: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return 1;
}

// A reader that closes the pipe early (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});
// Not process.exit: a pipe may still hold what was printed.
main(process.argv.slice(2)).then(
  code => (process.exitCode = code),
  error => (process.exitCode = explain(error)),
);
