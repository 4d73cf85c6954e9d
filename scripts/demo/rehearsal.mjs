// Has the demo's first conversation: a real Pi, remembered by a real host, before any window is open. So the first
// screen shows a session with a memory, and nothing on it is made up.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { ROOT } from '../tools.mjs';
import { startPiRpc } from './piRpc.mjs';

const NAME = 'Getting to know steep';
/** What is said in it, in order. */
export const PROMPTS = [
  'Have a look at this project.',
  'I like my green tea below 80 degrees: boiling water makes it bitter. Please keep to that.',
  'Add oolong at 90 degrees for 4 minutes.',
  'What does src/timer.js do?',
  'What can I ask you?',
];

/**
 * The session file of the demo's conversation, which is held if it hasn't been yet.
 * @param {import('./stage.mjs').Stage} stage
 * @param {{memory: boolean, dist: string}} options whether the session is remembered, and the built extension
 * @returns {Promise<string>}
 */
export async function rehearse(stage, { memory, dist }) {
  const note = path.join(stage.folder, 'session.json');
  const known = sessionIn(note);
  if (known !== undefined && fs.existsSync(known)) return known;

  console.log('having the first conversation of the demo ...');
  const host = await startHost(stage, memory, dist);
  try {
    const pi = startPiRpc(stage.pi, [], { cwd: stage.project, env: stage.env, timeoutMs: 60_000 });
    try {
      await pi.ask({ type: 'set_session_name', name: NAME });
      for (const prompt of PROMPTS) await pi.prompt(prompt);
      const { sessionFile } = await pi.ask({ type: 'get_state' });
      if (typeof sessionFile !== 'string')
        throw new Error('Pi kept no file for the conversation of the demo.');
      fs.writeFileSync(note, JSON.stringify({ sessionFile }));
      return sessionFile;
    } finally {
      await pi.close();
    }
  } finally {
    await host.stop();
  }
}

/** @param {string} note @returns {string | undefined} */
function sessionIn(note) {
  if (!fs.existsSync(note)) return undefined;
  const { sessionFile } = /** @type {{sessionFile?: unknown}} */ (JSON.parse(fs.readFileSync(note, 'utf8')));
  return typeof sessionFile === 'string' ? sessionFile : undefined;
}

/** @param {import('./stage.mjs').Stage} stage @param {boolean} memory @param {string} distDir */
async function startHost(stage, memory, distDir) {
  const program = await buildHost();
  const { version } = /** @type {{version: string}} */ (
    JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8'))
  );
  const wish = {
    agentDir: stage.agent,
    root: stage.archives,
    folder: stage.project,
    memory,
    version,
    distDir,
  };
  const child = spawn(process.execPath, [program, JSON.stringify(wish)], {
    env: { ...process.env, ...stage.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (/** @type {string} */ text) => (errors += text));
  const ended = new Promise(resolve => child.on('close', resolve));
  await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.stdout.once('data', resolve);
    void ended.then(() =>
      reject(new Error(`The demo's host ended before it served anyone:\n${errors.trim()}`)),
    );
  });
  return {
    async stop() {
      child.stdin.end();
      const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** @returns {Promise<string>} the bundle's path */
async function buildHost() {
  const { build } = await import('esbuild');
  const outfile = path.join(ROOT, 'out/demo/host.mjs');
  await build({
    entryPoints: [path.join(ROOT, 'scripts/demo/host.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    packages: 'external',
    sourcemap: 'linked',
    logLevel: 'warning',
  });
  return outfile;
}
