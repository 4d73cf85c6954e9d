import { existsSync } from 'node:fs';
import { readArchive } from '../../extension/cli/readArchive';
import { mark } from '../support/conversation';
import { BETWEEN } from './between';
import { INSIDE } from './inside';
import { Promises } from './promises';
import { pause, PNG, seeded, World } from './world';

export interface SoakOptions {
  readonly seed: number;
  readonly turns: number;
  /** Names of `BETWEEN` and `INSIDE` for the first turns, before chance decides. */
  readonly first?: readonly { readonly between?: string; readonly inside?: string }[];
  readonly progress?: (text: string) => void;
}
export interface SoakReport {
  readonly requests: number;
  readonly kills: number;
  /** Turns that ended without an answer, where they may. */
  readonly stopped: number;
  readonly acknowledged: number;
  /** Of these, how many are in no archive. */
  readonly lost: number;
  readonly archives: number;
  /** Views that were rebuilt from their receipts and compared. */
  readonly views: number;
  readonly orphans: number;
  readonly superseded: number;
  readonly events: Readonly<Record<string, number>>;
  /** What was promised and not kept. */
  readonly broken: readonly string[];
}

/**
 * Long use of a real Pi in one project, as a person would: turns with tools, images, forks and aborts, while hosts and
 * Pis are stopped, frozen and killed and their files torn. After each turn, and for every session at the end, what was
 * promised is compared with what is there.
 */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const world = await World.make(seeded(options.seed));
  const promises = new Promises(world.box, world.fail);
  try {
    let stopped = 0;
    for (world.turn = 0; world.turn < options.turns; world.turn++) {
      const wanted = options.first?.[world.turn];
      const between = wanted?.between ?? (wanted ? 'nothing' : world.pick(Object.keys(BETWEEN)));
      world.note(between);
      await BETWEEN[between]?.(world);
      const inside = wanted
        ? wanted.inside
        : world.random() < 0.45
          ? world.pick(Object.keys(INSIDE))
          : undefined;
      if (await runTurn(world, promises, inside)) stopped++;
      if (world.turn % 25 === 24)
        options.progress?.(`${world.turn + 1} turns, ${world.kills} kills, ${world.broken.length} broken`);
    }
    return { stopped, ...(await lastLook(world, promises)) };
  } finally {
    await world.box.close();
  }
}

const slow = (token: string): string => `!tool bash {"command":"sleep 0.5; echo ${token} slow"}`;

/** A prompt with up to two steps. What the demo model does with it stands in it. */
function promptOf(world: World, interrupted: boolean): string {
  const n = world.turn;
  const result = `R${n}R`;
  const steps = Array.from({ length: world.below(3) }, () =>
    world.pick([
      `!tool bash {"command":"echo ${result} ${mark(n + 1)}"}`,
      `!tool bash {"command":"seq 1 400; echo ${result} ${mark(n + 1)}"}`,
      `!tools ${JSON.stringify([
        ['bash', { command: `echo ${result}` }],
        ['read', { path: 'pic.png' }],
      ])}`,
      '!tool strata_memory {"action":"status"}',
      '!tool read {"path":"missing.txt"}',
    ]),
  );
  if (interrupted) steps.splice(world.below(steps.length + 1), 0, slow(result));
  const answer = world.pick([
    ...['', 'words '.repeat(120), 'a few words'].map(words => `!say said S${n}S ${words}`),
    '!big 3000',
    '!fail 1 503',
  ]);
  const long = world.random() < 0.2 ? 'long '.repeat(150) : '';
  return `T${n}T ${mark(n + 1)} ${long} ;; ${[...steps, answer].join(' ;; ')}`;
}

/** True when the turn ended without an answer, as it may. */
async function runTurn(world: World, promises: Promises, name: string | undefined): Promise<boolean> {
  const interruption = name === undefined ? undefined : INSIDE[name];
  const image = { type: 'image', mimeType: 'image/png', data: PNG };
  const from = world.pi.events.length;
  const images = world.random() < 0.15 ? [image] : [];
  const answer = await world.pi.send('prompt', {
    message: promptOf(world, interruption !== undefined),
    images,
  });
  if (answer['success'] !== true) world.fail(`the prompt was refused: ${JSON.stringify(answer)}`);
  if (interruption) {
    const slowTool = (text: string): boolean =>
      text.includes('tool_execution_start') && text.includes('sleep 0.5');
    await world.pi.until(
      'the tool',
      event => event.type === 'agent_settled' || slowTool(JSON.stringify(event)),
      60_000,
      from,
    );
    if (world.random() < 0.3) await pause(world.below(700));
    world.note(name ?? '');
    await interruption.happens(world);
  }
  if (interruption?.dead) {
    promises.requestsSince();
    await world.restart();
    return false;
  }
  await world.pi.until('the end of the turn', event => event.type === 'agent_settled', 90_000, from);
  await pause(30);
  return settled(world, promises, from, interruption?.mayStop ?? false);
}

async function settled(world: World, promises: Promises, from: number, mayStop: boolean): Promise<boolean> {
  const errors = world.pi.events
    .slice(from)
    .filter(event => event.type === 'message_end')
    .map(event => event['message'] as { stopReason?: string; errorMessage?: string })
    // The demo model's own refusal, which Pi repeats.
    .filter(({ stopReason, errorMessage }) => stopReason === 'error' && !/busy/.test(errorMessage ?? ''));
  if (!mayStop) for (const { errorMessage } of errors) world.fail(`the turn stopped: ${errorMessage}`);
  world.hear();
  world.file = await world.sessionFile();
  promises.requestsSince();
  if (!mayStop && errors.length === 0) promises.viewOfLastTurn(world.file, `T${world.turn}T`);
  const archive = await world.archiveOf(world.file);
  if (archive === undefined) {
    world.fail(`no archive of ${world.file}`);
    return false;
  }
  await promises.session(archive, world.file, 'live');
  await promises.reader(archive);
  return errors.length > 0;
}

/** Every session is gone on with once, so that whatever a kill left is taken in; then all of everything is looked at. */
async function lastLook(world: World, promises: Promises): Promise<Omit<SoakReport, 'stopped'>> {
  await world.restart();
  for (const session of world.box.sessionFiles) {
    await world.pi.send('switch_session', { sessionPath: session });
    world.turn++;
    await world.pi.prompt(`T${world.turn}T ${mark(world.turn)} last ;; !say S${world.turn}S end`, 60_000);
    world.hear();
  }
  promises.requestsSince();
  await world.pi.close();
  await world.stopHosts();
  const totals = { orphans: 0, views: 0, superseded: 0 };
  const { archives } = world.box;
  for (const archive of archives) {
    await promises.reader(archive);
    const found = await promises.verify(archive);
    totals.orphans += found.orphans;
    totals.views += found.views;
    totals.superseded += found.superseded;
    const { sessionFile } = (await readArchive(archive)).config;
    if (sessionFile !== undefined && existsSync(sessionFile))
      await promises.session(archive, sessionFile, 'all');
  }
  const { archived } = world.box;
  const lost = [...world.acknowledged].filter(said => !archived.includes(said.split(' ')[1] ?? '?'));
  for (const said of lost) world.fail(`acknowledged and in no archive: ${said}`);
  return {
    requests: promises.requests,
    kills: world.kills,
    acknowledged: world.acknowledged.size,
    lost: lost.length,
    archives: archives.length,
    ...totals,
    events: Object.fromEntries(world.counts),
    broken: world.broken,
  };
}
