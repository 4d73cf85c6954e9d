import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readArchive } from '../../extension/cli/readArchive';
import { pause, type World } from './world';

type Happening = (world: World) => Promise<void>;

const torn = (bytes: Buffer): readonly Buffer[] => [
  bytes.subarray(0, Math.max(1, Math.min(40, bytes.length - 2))),
  Buffer.from('0000'),
  Buffer.from('000001f4deadbeef {"torn'),
  Buffer.alloc(100),
];

/** Everybody is killed, something is done to the files they left, and Pi comes back, with or without a host. */
const afterAllWereKilled =
  (then: (world: World, archive: string) => Promise<void>): Happening =>
  async world => {
    const archive = await world.archiveOf(world.file);
    await world.killHosts();
    await world.killPi();
    if (archive !== undefined) await then(world, archive);
    if (world.random() < 0.6) await world.startHost();
    await world.restart();
  };

const onCheckpoint = (change: (world: World, file: string) => void): Happening =>
  afterAllWereKilled((world, archive) => {
    const file = path.join(archive, 'checkpoint');
    if (existsSync(file)) change(world, file);
    return Promise.resolve();
  });

/** What a day brings between two turns. */
export const BETWEEN: Readonly<Record<string, Happening>> = {
  nothing: () => Promise.resolve(),
  'host killed': world => world.killHosts(),
  'host stopped': world => world.stopHosts(),
  'host started': world => world.startHost(),
  'window reloaded': async world => {
    await world.stopHosts();
    await world.startHost();
  },
  'host killed and started': async world => {
    await world.killHosts();
    await world.startHost();
  },
  'Pi killed': async world => {
    await world.killPi();
    await world.restart();
  },
  'Pi closed': async world => {
    world.hear();
    const code = await world.pi.close();
    if (code !== 0) world.fail(`Pi ended with ${code}: ${world.pi.errors.slice(-300)}`);
    await world.restart();
  },
  new: async world => {
    await world.pi.send('new_session');
    world.file = await world.sessionFile();
  },
  resume: async world => {
    const to = world.pick(world.box.sessionFiles);
    if (to === undefined) return;
    await world.pi.send('switch_session', { sessionPath: to });
    world.file = await world.sessionFile();
  },
  clone: async world => {
    await world.pi.send('clone');
    world.file = await world.sessionFile();
  },
  fork: async world => {
    const { data } = await world.pi.send('get_fork_messages');
    const { messages } = (data ?? { messages: [] }) as { messages: readonly { entryId: string }[] };
    if (messages.length === 0) return;
    await world.pi.send('fork', { entryId: world.pick(messages).entryId });
    world.file = await world.sessionFile();
  },
  tree: async world => {
    if (!existsSync(world.file)) return;
    const entries = readFileSync(world.file, 'utf8').matchAll(/^\{"type":"message","id":"([^"]+)"/gm);
    const ids = Array.from(entries, ([, id]) => id ?? '');
    if (ids.length > 0) await world.pi.send('prompt', { message: `/goto ${world.pick(ids)}` });
    await pause(150);
  },
  reload: async world => {
    await world.pi.send('prompt', { message: '/again' });
    await pause(200);
  },
  'shell command': async world => {
    await world.pi.send('bash', { command: `echo B${world.turn}B` });
  },
  'torn tail': afterAllWereKilled(async (world, archive) => {
    const { journal } = await readArchive(archive);
    appendFileSync(journal, world.pick(torn(readFileSync(journal))));
  }),
  'checkpoint deleted': onCheckpoint((_, file) => rmSync(file)),
  'checkpoint damaged': onCheckpoint((world, file) => {
    const bytes = readFileSync(file);
    const at = world.below(bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << world.below(8));
    writeFileSync(file, world.random() < 0.3 ? bytes.subarray(0, at) : bytes);
  }),
};
