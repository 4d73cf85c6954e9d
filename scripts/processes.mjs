// Programs that a script starts and must not leave behind, however it ends.
import { spawn } from 'node:child_process';
import fs from 'node:fs';

const sleep = (/** @type {number} */ ms) => new Promise(done => setTimeout(done, ms));

/** @type {Set<() => void>} */
const lastWishes = new Set();
let listening = false;

/**
 * Has `clean` called if this process ends before the returned function was: by an exit, a signal, or an exception
 * that nobody caught. Only a SIGKILL prevents it. `clean` must be synchronous.
 * @param {() => void} clean
 * @returns {() => void} takes it back
 */
export function atExit(clean) {
  if (!listening) {
    listening = true;
    process.on('exit', () => {
      for (const wish of lastWishes) wish();
    });
    for (const [signal, code] of /** @type {const} */ ([
      ['SIGINT', 130],
      ['SIGTERM', 143],
      ['SIGHUP', 129],
    ]))
      process.once(signal, () => process.exit(code));
  }
  lastWishes.add(clean);
  return () => lastWishes.delete(clean);
}

/** A process as Linux tells it; `born` keeps a reused number from being taken for the old process.
 * @typedef {{pid: number, parent: number, group: number, state: string, born: string}} Running */

/** @param {number | string} pid @returns {Running | undefined} */
function running(pid) {
  let text;
  try {
    text = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The name stands in parentheses and may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = '', parent, group] = fields;
  return { pid: Number(pid), parent: Number(parent), group: Number(group), state, born: fields[19] ?? '' };
}

/**
 * A process, all it started, and all that stayed in its process group. Terminals leave the group, so the group alone
 * would not reach a program that runs in one. Empty where there is no /proc.
 * @param {number} root
 * @returns {Running[]}
 */
export function familyOf(root) {
  let entries;
  try {
    entries = fs.readdirSync('/proc');
  } catch {
    return [];
  }
  const all = entries.filter(name => /^\d+$/.test(name)).flatMap(name => running(name) ?? []);
  const family = new Set([root]);
  for (let before = 0; before !== family.size;) {
    before = family.size;
    for (const { pid, parent, group } of all) if (family.has(parent) || group === root) family.add(pid);
  }
  return all.filter(({ pid }) => family.has(pid));
}

/** Whether a process still runs; one that only waits to be cleared away doesn't. @param {Running} member */
export const lives = member => {
  const now = running(member.pid);
  return now !== undefined && now.born === member.born && now.state !== 'Z';
};

/** @param {number} pid @param {NodeJS.Signals} signal */
function signalQuietly(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}

/**
 * Ends a process that was started `detached` with all it started: asked first, then killed.
 * @param {number} root its id, which is also its group's
 * @param {number} patience milliseconds between the two
 */
export async function endFamily(root, patience) {
  const family = familyOf(root);
  signalQuietly(-root, 'SIGTERM');
  for (const end = Date.now() + patience; Date.now() < end && family.some(lives);) await sleep(50);
  signalQuietly(-root, 'SIGKILL');
  for (const member of family) if (lives(member)) signalQuietly(member.pid, 'SIGKILL');
  // A killed process is gone only when the system has cleared it away.
  for (const end = Date.now() + 2000; Date.now() < end && family.some(lives);) await sleep(20);
}

/** The same at once, for `atExit`. @param {number} root */
export function killFamily(root) {
  const family = familyOf(root);
  signalQuietly(-root, 'SIGKILL');
  for (const member of family) if (lives(member)) signalQuietly(member.pid, 'SIGKILL');
}

/**
 * @typedef {object} Ended
 * @property {number | null} code
 * @property {NodeJS.Signals | null} signal
 * @property {string} output of both streams, as it came
 * @property {boolean} late it was ended because its time was up
 */

/**
 * Runs a program in a group of its own and waits for its end. Whatever it started and forgot ends with it.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{cwd: string, env: NodeJS.ProcessEnv, timeout: number, stop?: AbortSignal}} options timeout in milliseconds
 * @returns {Promise<Ended>}
 */
export async function runToEnd(command, args, { cwd, env, timeout, stop }) {
  const child = spawn(command, [...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${command} could not be started`);
  const forget = atExit(() => killFamily(pid));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (/** @type {string} */ text) => {
      output += text;
    });
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    void endFamily(pid, 1000);
  }, timeout);
  stop?.addEventListener('abort', () => void endFamily(pid, 1000));
  /** @type {{code: number | null, signal: NodeJS.Signals | null}} */
  const { code, signal } = await new Promise(done =>
    child.once('exit', (code, signal) => done({ code, signal })),
  );
  clearTimeout(timer);
  await endFamily(pid, 0);
  forget();
  return { code, signal, output, late };
}
