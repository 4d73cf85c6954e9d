import { parseArgs, type ParseArgsConfig } from 'node:util';

/** The options that a command takes besides `--json` and `--help`; all have a value. */
export type OptionNames = readonly string[];

export interface Arguments {
  readonly json: boolean;
  /** The positional arguments, as many as the command names. */
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, string | undefined>>;
}
export interface Command {
  readonly name: string;
  /** What stands after `strata` in the help, e.g. `view DIR TURN`. */
  readonly usage: string;
  readonly summary: string;
  readonly help: string;
  /** Names of the positional arguments. */
  readonly takes: readonly string[];
  readonly options: OptionNames;
  /** Prints the answer and gives the exit code. Throws a `CliError` for what a person can put right. */
  run(a: Arguments): Promise<number>;
}

/** Ends the command with one sentence on stderr. */
export class CliError extends Error {
  constructor(
    message: string,
    /** 2: the command line was wrong; 1: something else was. */
    readonly code: 1 | 2 = 1,
  ) {
    super(message);
    this.name = 'CliError';
  }
}

/** The arguments after the command's name; `help` when that was asked for. Throws a `CliError` (2) for wrong ones. */
export function readArguments(command: Command, argv: readonly string[]): Arguments | 'help' {
  const options: NonNullable<ParseArgsConfig['options']> = {
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  };
  for (const name of command.options) options[name] = { type: 'string' };
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw wrongUsage(command, firstSentence(error));
  }
  const { values, positionals } = parsed;
  if (values['help'] === true) return 'help';
  const missing = command.takes[positionals.length];
  if (missing !== undefined) throw wrongUsage(command, `${missing} is missing.`);
  const extra = positionals[command.takes.length];
  if (extra !== undefined)
    throw wrongUsage(command, `There is one argument too many: ${JSON.stringify(extra)}.`);
  const texts: Record<string, string | undefined> = {};
  for (const name of command.options) {
    const value = values[name];
    if (typeof value === 'string') texts[name] = value;
  }
  return { json: values['json'] === true, args: positionals, options: texts };
}

/** A number written in decimal digits. Throws a `CliError` (2) for anything else. */
export function wholeNumber(name: string, text: string): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (!Number.isSafeInteger(value))
    throw new CliError(`${name} must be a whole number from 0 on, not ${JSON.stringify(text)}.`, 2);
  return value;
}

function wrongUsage(command: Command, what: string): CliError {
  return new CliError(`${what} Usage: strata ${command.usage}`, 2);
}

function firstSentence(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const sentence = text.split(/[.\n](?:\s|$)/, 1)[0] ?? text;
  return `${sentence}.`;
}
