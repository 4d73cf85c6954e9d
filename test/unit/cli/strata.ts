import { spawn } from 'node:child_process';
import path from 'node:path';

/** The built command, as a user runs it. */
const CLI = path.resolve('dist/cli.mjs');

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs `strata` in a process of its own. */
export function strata(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI, ...args], { env: { ...process.env, ...env } });
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    child.on('error', reject);
    child.on('close', code => resolve({ code, out, err }));
  });
}

/** The JSON answer of a command; throws with what it said when it failed. */
export async function answer<T>(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<T> {
  const { code, out, err } = await strata([...args, '--json'], env);
  if (code !== 0) throw new Error(`strata ${args.join(' ')} ended with ${code}: ${err}`);
  return JSON.parse(out) as T;
}
