// `npm start -- --check`: the demo without a window, judged. A headless Chromium connects, three prompts are typed
// into the terminal that Strata opened, and the model server counts what it should never have received.
import { spawnSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { PROMPTS } from './demo/rehearsal.mjs';
import { withDemoWindow } from './demo/window.mjs';
import { canary } from './model/history.mjs';
import { eventually, pasteIntoTerminal, screenshot, terminalShows, terminalText } from './workbench-ui.mjs';

/** Each prompt is at least this long, in bytes: too long to stand in a view as it is. */
const PROMPT_BYTES = 2048;
const NOTES = 'notes.txt';

/**
 * @typedef {object} Figures
 * @property {number} records over all archives
 * @property {number} nodes
 * @property {number} viewBytes the view of the last turn
 * @property {number} receipts
 * @property {number} requests of the conversation; summary jobs are not counted
 * @property {number} rawHistoryBytes text of earlier turns outside the view, as the model server counted it
 * @property {number} sessions archives
 */

/**
 * Runs the check, prints what is wrong to standard error and the figures as the last line of standard output.
 * @param {{sabotage: boolean}} options `sabotage` turns memory off, which the check must notice
 * @returns {Promise<number>} the exit code
 */
export function check({ sabotage }) {
  return withDemoWindow(
    { memory: !sabotage },
    async ({ page, errors, play }) => {
      try {
        await converse(page, play);
        return errors.map(error => `The page threw: ${error}`);
      } catch (error) {
        const screen = await terminalText(page).catch(() => 'nothing: there is no terminal');
        return [
          error instanceof Error ? error.message : String(error),
          `The terminal showed:\n${screen.trim()}`,
          `A picture is in ${await screenshot(page, 'check')}`,
        ];
      }
    },
    async ({ play, dist }, seen) => {
      const figures = figuresOf(play, dist);
      const problems = [...seen, ...judged(figures, play)];
      for (const problem of problems) console.error(problem);
      console.log(JSON.stringify(figures));
      return problems.length === 0 ? 0 : 1;
    },
  );
}

/**
 * Three prompts in the terminal; the second reads a file in a loop of tools.
 * @param {import('playwright-core').Page} page
 * @param {import('./demo/play.mjs').Play} play
 */
async function converse(page, { model, stage }) {
  // Pi draws its editor before it reads it; its footer speaks of memory once it is served.
  await terminalShows(page, /memory: (?:on|off)/, 240_000);
  for (const turn of [1, 2, 3]) {
    const mark = () => canary(turn, crypto.randomBytes(8).toString('hex'));
    fs.writeFileSync(path.join(stage.project, NOTES), `Notes of turn ${turn}: ${mark()}\n`);
    const tools =
      turn === 2
        ? [
            `!tool read {"path":"${NOTES}"}`,
            `!tools [["bash",{"command":"cat ${NOTES}"}],["read",{"path":"package.json"}]]`,
          ]
        : [];
    const before = model.requests.length;
    await pasteIntoTerminal(page, promptOf(turn, mark, tools));
    await page.keyboard.press('Enter');
    const steps = tools.length + 1;
    await eventually(
      `the model answers ${steps} requests of prompt ${turn}`,
      () => model.requests.slice(before).filter(request => isAnswered(request)).length >= steps,
      60_000,
    );
    // The prompt on the screen says so too, but not at the beginning of a line.
    await terminalShows(page, new RegExp(`^\\s*Turn ${turn} is done`, 'm'), 30_000);
    await eventually(
      `turn ${turn} settles`,
      async () => !/Working|Esc to (?:cancel|interrupt)/i.test(await terminalText(page)),
      30_000,
    );
  }
}

/** @param {import('./model/server.mjs').Received} request */
const isAnswered = request => !request.compactor && request.status === 200;

/**
 * @param {number} turn
 * @param {() => string} mark
 * @param {readonly string[]} directives
 */
function promptOf(turn, mark, directives) {
  const lines = [`This is prompt ${turn} of a check. Each of its lines carries a mark of its own.`];
  const end = [...directives, `!say Turn ${turn} is done. Its mark is ${mark()}.`];
  const size = () => Buffer.byteLength([...lines, ...end].join('\n'));
  while (size() < PROMPT_BYTES)
    lines.push(`Line ${lines.length} of prompt ${turn}: the kettle is on, the leaves are in, ${mark()}.`);
  return [...lines, ...end].join('\n');
}

/**
 * @typedef {object} Status what `strata status --json` says, as far as the check reads it
 * @property {number} records
 * @property {number} nodes
 * @property {readonly unknown[]} turns
 * @property {{bytes: number} | null} view
 */

/**
 * @param {import('./demo/play.mjs').Play} play
 * @param {string} dist the built extension
 * @returns {Figures}
 */
function figuresOf({ model, stage }, dist) {
  const main = model.requests.filter(request => !request.compactor);
  const parent = path.join(stage.archives, 'sessions');
  const archives = fs.existsSync(parent) ? fs.readdirSync(parent).map(name => path.join(parent, name)) : [];
  const all = archives.map(archive => statusOf(archive, dist));
  const sum = (/** @type {(status: Status) => number} */ of) =>
    all.reduce((total, status) => total + of(status), 0);
  return {
    records: sum(status => status.records),
    nodes: sum(status => status.nodes),
    viewBytes: Math.max(0, ...all.map(status => status.view?.bytes ?? 0)),
    receipts: sum(status => status.turns.length),
    requests: main.length,
    rawHistoryBytes: main.reduce((total, request) => total + request.historyBytes, 0),
    sessions: archives.length,
  };
}

/**
 * @param {string} archive its folder
 * @param {string} dist the built extension
 * @returns {Status}
 */
function statusOf(archive, dist) {
  const cli = path.join(dist, 'cli.mjs');
  const ran = spawnSync(process.execPath, [cli, 'status', archive, '--json'], { encoding: 'utf8' });
  if (ran.status !== 0) throw new Error(`strata status ${archive} failed: ${ran.stderr || ran.stdout}`);
  return JSON.parse(ran.stdout);
}

/**
 * @param {Figures} figures
 * @param {import('./demo/play.mjs').Play} play
 * @returns {string[]} what is wrong, a sentence each
 */
function judged(figures, { model }) {
  /** @type {string[]} */
  const problems = [];
  const turns = PROMPTS.length + 3;
  const wrong = (/** @type {boolean} */ is, /** @type {string} */ what) => {
    if (is) problems.push(what);
  };
  const main = model.requests.filter(request => !request.compactor);
  wrong(
    figures.rawHistoryBytes > 0,
    `${figures.rawHistoryBytes} bytes of earlier turns were sent outside the view.`,
  );
  wrong(figures.sessions !== 1, `There are ${figures.sessions} archives; the demo has one session.`);
  wrong(figures.receipts !== turns, `${figures.receipts} frozen views are stored for ${turns} turns.`);
  wrong(figures.records < 2 * turns, `Only ${figures.records} records are in the archive.`);
  wrong(figures.nodes === 0, 'No line of the view has been made.');
  wrong(figures.viewBytes === 0, 'The view is empty.');
  const bare = main.filter(
    request => !request.conversation.said.some(said => said.text.startsWith('<chat>')),
  );
  // The first turn of a session has nothing to remember; it has two steps.
  wrong(bare.length > 2, `${bare.length} requests carried no view.`);
  return problems;
}
