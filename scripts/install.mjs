// How the scripts put things into a cache folder: at most once, safe to run again, and safe to run side by side.
// Only Node's own modules are used: this runs before `npm ci` has.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Where everything goes that development needs and node_modules doesn't hold. Can be deleted at any time. */
export const CACHE = path.resolve(
  process.env.STRATA_CACHE ??
    path.join(process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'), 'strata-dev'),
);

/** Something a person has to put right: its message says what is missing and what to do, and needs no stack. */
export class SetupError extends Error {
  /** @override */
  name = 'SetupError';
}

/**
 * Ends a program with what went wrong: one sentence for a SetupError, the stack for everything unexpected.
 * @param {unknown} error
 * @returns {never}
 */
export function die(error) {
  console.error(error instanceof SetupError ? error.message : error);
  process.exit(1);
}

const sleep = (/** @type {number} */ ms) => new Promise(done => setTimeout(done, ms));

/**
 * Runs a program and collects all that it prints.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{cwd?: string, env?: NodeJS.ProcessEnv, shell?: boolean}} [options]
 * @returns {Promise<{code: number, output: string}>} code 127 when the program doesn't exist
 */
export function capture(command, args, options = {}) {
  return new Promise(done => {
    const child = spawn(command, [...args], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const take = (/** @type {string} */ text) => {
      output += text;
    };
    child.stdout.setEncoding('utf8').on('data', take);
    child.stderr.setEncoding('utf8').on('data', take);
    child.on('error', error => done({ code: 127, output: output + error.message }));
    child.on('close', (code, signal) =>
      done({ code: code ?? 1, output: signal ? `${output}\n(${signal})` : output }),
    );
  });
}

/**
 * Like `capture`, for a step of set-up that must succeed.
 * @param {string} what the step in a person's words: "Node 24 from the npm registry"
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{cwd?: string, env?: NodeJS.ProcessEnv, shell?: boolean, advice?: string}} [options]
 * @returns {Promise<string>} what it printed
 * @throws {SetupError} naming the step, the reason in the program's own words, and the file with all of its output
 */
export async function must(what, command, args, { advice, ...options } = {}) {
  const { code, output } = await capture(command, args, options);
  if (code === 0) return output;
  const folder = path.join(CACHE, 'logs');
  fs.mkdirSync(folder, { recursive: true });
  const log = path.join(folder, `${what.replace(/[^\w.]+/g, '-').toLowerCase()}.log`);
  fs.writeFileSync(log, `${command} ${args.join(' ')}\n(exit code ${code})\n\n${output}`);
  const reason = reasonIn(output) ?? `exit code ${code}`;
  throw new SetupError(
    `Could not set up ${what}: ${reason}. ${advice ?? 'Check the network and run the command again'}; all of the output is in ${log}.`,
  );
}

/**
 * The line of a program's output that most likely says why it failed.
 * @param {string} output
 * @returns {string | undefined}
 */
function reasonIn(output) {
  const lines = output
    .split('\n')
    .filter(line => !/^npm error (code|syscall|errno|A complete log)\b/.test(line))
    .map(line => line.replace(/^npm (error|ERR!) (network |notarget )?/, '').trim())
    .filter(line => line !== '' && !line.startsWith('npm warn'));
  const telling = lines.find(line => /\b(error|E:|failed|unable|no matching)\b/i.test(line)) ?? lines.at(-1);
  return telling?.slice(0, 300).replace(/\.$/, '');
}

/**
 * The environment for an npm of our own: what a surrounding `npm test` exported about itself would mislead it,
 * what a person configured (registry, proxy, cache) stays.
 * @param {string} [nodeFolder] the folder of the `node` it shall run on
 * @returns {NodeJS.ProcessEnv}
 */
export function npmEnv(nodeFolder) {
  /** @type {NodeJS.ProcessEnv} */
  const env = {};
  const misleading =
    /^npm_(?!config_)|^npm_config_(local_prefix|prefix|global_prefix|nodedir|user_agent|node_gyp)$/i;
  for (const [key, value] of Object.entries(process.env)) if (!misleading.test(key)) env[key] = value;
  if (nodeFolder !== undefined) {
    const name = Object.keys(env).find(key => key.toUpperCase() === 'PATH') ?? 'PATH';
    env[name] = `${nodeFolder}${path.delimiter}${env[name] ?? ''}`;
    // Headers of the very Node that will load the result: a `nodedir` of the machine may belong to another one.
    env.npm_config_nodedir = path.dirname(nodeFolder);
  }
  // node-pty builds through `npx node-gyp`, which must not stop at a question.
  return {
    ...env,
    npm_config_yes: 'true',
    npm_config_jobs: 'max',
    npm_config_fund: 'false',
    npm_config_audit: 'false',
    npm_config_update_notifier: 'false',
  };
}

/**
 * @param {string} what
 * @param {readonly string[]} args
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} [env]
 */
export async function npm(what, args, cwd, env = npmEnv()) {
  // npm is a script of the shell on Windows; the arguments are ours and need no quoting.
  const windows = process.platform === 'win32';
  return must(what, windows ? 'npm.cmd' : 'npm', ['--loglevel=error', ...args], { cwd, env, shell: windows });
}

/** @param {number} pid */
function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}

/**
 * Runs `work` while no other program of ours holds the lock of that name. The lock of a process that died is taken
 * over: it is moved aside first, and put back if it turns out that somebody else had just taken it over.
 * @template T
 * @param {string} name
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function locked(name, work) {
  const folder = path.join(CACHE, 'locks');
  fs.mkdirSync(folder, { recursive: true });
  const lock = path.join(folder, name);
  const mine = `${lock}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  sweep(folder, name);
  fs.writeFileSync(mine, String(process.pid));
  try {
    for (let waited = 0; ; waited++) {
      try {
        fs.linkSync(mine, lock); // with its content, or not at all
        break;
      } catch (error) {
        if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
      }
      const holder = readPid(lock);
      if (holder !== undefined && !alive(holder)) {
        const aside = `${mine}.dead`;
        try {
          fs.renameSync(lock, aside);
          const moved = readPid(aside);
          if (moved !== undefined && alive(moved)) fs.linkSync(aside, lock);
        } catch {
          // Another process was quicker.
        }
        fs.rmSync(aside, { force: true });
        continue;
      }
      if (waited === 20 && holder !== process.pid)
        console.log(`waiting for process ${holder ?? '?'}, which is setting up ${name}`);
      await sleep(250);
    }
    return await work();
  } finally {
    if (readPid(lock) === process.pid) fs.rmSync(lock, { force: true });
    fs.rmSync(mine, { force: true });
  }
}

/**
 * Removes what processes that are gone left beside a name: `<name>.<pid>.<anything>`.
 * @param {string} folder
 * @param {string} name
 */
function sweep(folder, name) {
  for (const entry of fs.readdirSync(folder)) {
    const pid = entry.startsWith(`${name}.`)
      ? /^(\d+)\../.exec(entry.slice(name.length + 1))?.[1]
      : undefined;
    if (pid === undefined || alive(Number(pid))) continue;
    try {
      fs.rmSync(path.join(folder, entry), { recursive: true, force: true });
    } catch {
      // It is still being written to; the next one gets it.
    }
  }
}

/** @param {string} file */
function readPid(file) {
  try {
    const pid = Number(fs.readFileSync(file, 'utf8'));
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** @type {Map<string, Promise<string>>} what this process is making */
const inTheMaking = new Map();

/**
 * A folder of the cache that `fill` makes once. It appears under its name only when it is complete, so a run that is
 * cut off leaves nothing that a later one could mistake for an installation.
 * @param {string} name the folder's name; holds the version
 * @param {string} recipe changes when `fill` does: an older folder is then replaced
 * @param {string} what for the one line that is printed while it is made
 * @param {(folder: string) => Promise<void>} fill
 * @returns {Promise<string>} the folder
 */
export function cached(name, recipe, what, fill) {
  const promise = inTheMaking.get(name) ?? make(name, recipe, what, fill);
  inTheMaking.set(name, promise);
  return promise;
}

/**
 * @param {string} name
 * @param {string} recipe
 * @param {string} what
 * @param {(folder: string) => Promise<void>} fill
 * @returns {Promise<string>}
 */
async function make(name, recipe, what, fill) {
  const folder = path.join(CACHE, name);
  const current = () => {
    try {
      return fs.readFileSync(path.join(folder, 'stamp'), 'utf8') === recipe;
    } catch {
      return false;
    }
  };
  if (current()) return folder;
  return locked(name, async () => {
    if (current()) return folder;
    console.log(`setting up ${what} in ${folder} ...`);
    // A name of its own: what a killed process had started may still be writing into the folder of that process.
    sweep(CACHE, name);
    const half = path.join(CACHE, `${name}.${process.pid}.making`);
    fs.mkdirSync(half, { recursive: true });
    await fill(half);
    fs.writeFileSync(path.join(half, 'stamp'), recipe);
    fs.rmSync(folder, { recursive: true, force: true });
    fs.renameSync(half, folder);
    return folder;
  });
}
