// A real Pi in its RPC mode, as a script talks to it.
import { spawn } from 'node:child_process';

/**
 * @typedef {object} PiRpc
 * @property {(message: string) => Promise<void>} prompt resolves when the turn has settled, rejects when it failed
 * @property {(command: Record<string, unknown>) => Promise<Record<string, unknown>>} ask resolves with a reply's data
 * @property {() => Promise<void>} close ends Pi as closing its window would
 */

/**
 * @param {string} program
 * @param {readonly string[]} args beside `--mode rpc`
 * @param {{cwd: string, env: NodeJS.ProcessEnv, timeoutMs: number}} options the limit is for each prompt and question
 * @returns {PiRpc}
 */
export function startPiRpc(program, args, { cwd, env, timeoutMs }) {
  const child = spawn(program, ['--mode', 'rpc', ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  });
  /** @type {Set<(record: Record<string, unknown> | Error) => void>} */
  const listeners = new Set();
  let errors = '';
  let buffer = '';
  let count = 0;
  const tell = (/** @type {Record<string, unknown> | Error} */ what) => {
    for (const listener of [...listeners]) listener(what);
  };
  child.stderr.setEncoding('utf8').on('data', (/** @type {string} */ text) => (errors += text));
  child.stdout.setEncoding('utf8').on('data', (/** @type {string} */ text) => {
    buffer += text;
    // Lines end at LF alone; other separators may stand inside a text.
    for (let end; (end = buffer.indexOf('\n')) >= 0; buffer = buffer.slice(end + 1)) {
      const line = buffer.slice(0, end);
      if (line !== '') tell(/** @type {Record<string, unknown>} */ (JSON.parse(line)));
    }
  });
  const ended = new Promise(resolve => child.on('close', resolve));
  child.on('error', error => tell(error));
  void ended.then(code => tell(new Error(`Pi ended (code ${String(code)}): ${errors.trim().slice(-500)}`)));

  /**
   * @template T
   * @param {string} what
   * @param {(record: Record<string, unknown>) => T | undefined} wanted
   * @returns {Promise<T>}
   */
  const waitFor = (what, wanted) =>
    new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        listeners.delete(listener);
      };
      const timer = setTimeout(() => {
        end();
        reject(new Error(`Pi did not ${what} within ${timeoutMs / 1000} s. ${errors.trim().slice(-500)}`));
      }, timeoutMs);
      const listener = (/** @type {Record<string, unknown> | Error} */ record) => {
        const found = record instanceof Error ? record : wanted(record);
        if (found === undefined) return;
        end();
        if (found instanceof Error) reject(found);
        else resolve(found);
      };
      listeners.add(listener);
    });

  /** @param {Record<string, unknown>} command */
  const ask = command => {
    const id = String(++count);
    const reply = waitFor(`answer ${String(command['type'])}`, record => {
      if (record['type'] !== 'response' || record['id'] !== id) return undefined;
      if (record['success'] !== true) return new Error(`Pi refused: ${String(record['error'])}`);
      return /** @type {Record<string, unknown>} */ (record['data'] ?? {});
    });
    child.stdin.write(`${JSON.stringify({ ...command, id })}\n`);
    return reply.then(value => {
      if (value instanceof Error) throw value;
      return value;
    });
  };

  return {
    ask,
    async prompt(message) {
      /** @type {string | undefined} */
      let failure;
      const settled = waitFor('settle', record => {
        failure = record['type'] === 'message_end' ? failureOf(record['message']) : failure;
        return record['type'] === 'agent_settled' ? record : undefined;
      });
      settled.catch(() => undefined);
      await ask({ type: 'prompt', message });
      await settled;
      if (failure !== undefined) throw new Error(`Pi could not answer "${message}": ${failure}`);
    },
    async close() {
      child.stdin.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
      await ended;
      clearTimeout(timer);
    },
  };
}

/**
 * Why a message of Pi's is no answer.
 * @param {unknown} message
 * @returns {string | undefined}
 */
function failureOf(message) {
  const { stopReason, errorMessage } = /** @type {{stopReason?: unknown, errorMessage?: unknown}} */ (
    message
  );
  return stopReason === 'error' || stopReason === 'aborted' ? String(errorMessage) : undefined;
}
