import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Archive } from '../../extension/archive/archive';
import type { SessionId } from '../../extension/archive/ids';
import { HEAD_BYTES } from '../../extension/storage/frame';
import { openArchiveFolder } from '../../extension/storage/archiveFolder';
import { lockSupport } from '../../extension/storage/lock';
import { CACHE } from '../install.mjs';
import { median, type Figure, type Report } from './figures.mjs';
import { journalOf, writeHistory } from './longHistory';

const RECORDS = 100_000;
const RUNS = 7;
const MiB = 1024 * 1024;

/**
 * What a fresh process did: `idle` nothing, `open` the product's opening, `watched` the same while a timer looks for
 * blocks (which itself takes time), `parse` JSON alone, `read` the disk alone.
 */
type Task = 'idle' | 'open' | 'watched' | 'parse' | 'read';

/** What a child tells. Memory after collection of what is no longer used. */
interface Measured {
  readonly ms: number;
  /** Heap in use, and memory outside of it that objects there hold (array buffers among it), in bytes. */
  readonly held: number;
  readonly rss: number;
  /** The longest time that nothing else could run, in milliseconds. */
  readonly blocked: number;
}

/**
 * [open] of issue 3: the product's own opening of a session of 100,000 records, folder, lock and all, up to where it
 * answers `session/open`. Each measurement is a fresh process; the journal is in the system's cache in all of them.
 */
export async function run(): Promise<Pick<Report, 'figures' | 'absent'>> {
  fs.mkdirSync(CACHE, { recursive: true });
  const root = fs.mkdtempSync(path.join(CACHE, 'bench-open-'));
  try {
    const dir = await emptyArchive(root);
    const bytes = writeHistory(journalOf(dir), RECORDS);
    const checkpoint = path.join(dir, 'checkpoint');
    const bare: Measured[] = [];
    const helped: Measured[] = [];
    const others: Record<'idle' | 'parse' | 'read', Measured[]> = { idle: [], parse: [], read: [] };
    for (let i = 0; i < RUNS; i++) {
      for (const task of ['idle', 'parse', 'read'] as const) others[task].push(await inChild(task, root));
      fs.rmSync(checkpoint, { force: true });
      // Its closing writes the checkpoint that the next one opens with.
      const bareTime = await inChild('open', root);
      if (!fs.existsSync(checkpoint)) throw new Error('closing the archive wrote no checkpoint');
      const helpedTime = await inChild('open', root);
      helped.push({ ...helpedTime, blocked: (await inChild('watched', root)).blocked });
      fs.rmSync(checkpoint, { force: true });
      bare.push({ ...bareTime, blocked: (await inChild('watched', root)).blocked });
    }
    return { figures: figuresOf(bytes, helped, bare, others), absent: [] };
  } finally {
    fs.rmSync(root, { recursive: true, force: true });
  }
}

function figuresOf(
  bytes: number,
  helped: readonly Measured[],
  bare: readonly Measured[],
  { idle, parse, read }: Record<'idle' | 'parse' | 'read', readonly Measured[]>,
): Figure[] {
  const of = (runs: readonly Measured[], what: keyof Measured): number => median(runs.map(run => run[what]));
  const disk = of(read, 'ms');
  const time = (id: string, runs: readonly Measured[], most: number, baseline: number): Figure => {
    const value = of(runs, 'ms');
    const bar = `at most ${Math.round(most)} ms; ${Math.round(bytes / MiB)} MiB of journal`;
    return { id, value, unit: 'ms', baseline, ratio: value / baseline, bar, holds: value <= most, disk };
  };
  const memory = (id: string, runs: readonly Measured[], what: 'held' | 'rss', most: number): Figure => {
    const baseline = of(idle, what) / MiB;
    const value = of(runs, what) / MiB - baseline;
    const bar = `at most ${most} MiB above an idle process`;
    return { id, value, unit: 'MiB', baseline, ratio: value / baseline, bar, holds: value <= most };
  };
  const blocked = (id: string, runs: readonly Measured[]): Figure => {
    const [value, baseline] = [of(runs, 'blocked'), of(parse, 'blocked')];
    return {
      id,
      value,
      unit: 'ms',
      baseline,
      ratio: value / baseline,
      bar: 'at most 50 ms at once',
      holds: value <= 50,
    };
  };
  const parsing = of(parse, 'ms');
  return [
    time('open.checkpoint.time', helped, 250, parsing),
    memory('open.checkpoint.memory.held', helped, 'held', 60),
    memory('open.checkpoint.memory.rss', helped, 'rss', 60),
    blocked('open.checkpoint.blocked', helped),
    time('open.journal.time', bare, 2 * parsing, parsing),
    memory('open.journal.memory.held', bare, 'held', 100),
    memory('open.journal.memory.rss', bare, 'rss', 100),
    blocked('open.journal.blocked', bare),
  ];
}

async function inChild(task: Task, root: string): Promise<Measured> {
  const program = fileURLToPath(import.meta.url);
  const args = ['--expose-gc', program, 'measure', task, root];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Measured;
}

const IDENTITY = { sessionId: 'bench' as SessionId, cwd: '/bench' };

async function opened(root: string) {
  const folder = await openArchiveFolder(root, IDENTITY);
  if (folder.state !== 'opened') throw new Error(`the archive could not be opened: ${folder.state}`);
  return folder;
}

async function emptyArchive(root: string): Promise<string> {
  const { dir, close } = await opened(root);
  await close();
  return dir;
}

async function measureOpen(root: string): Promise<() => Promise<void>> {
  const folder = await opened(root);
  const { journal, blobs } = folder;
  const log = { info: () => {}, warn: console.error, error: console.error };
  const archive = await Archive.open({ journal, blobs, clock: { now: Date.now }, log });
  // What the owner answers to `session/open`.
  const { records } = archive.branch();
  if (records !== RECORDS || archive.state.turns.length === 0 || archive.readOnly !== undefined)
    throw new Error(`${records} records: ${archive.readOnly}`);
  return async () => {
    await archive.close();
    await folder.close();
  };
}

/** The least that anybody could do with these lines: their bytes to texts, and those to objects. */
function measureParse(root: string): void {
  const bytes = fs.readFileSync(journalIn(root));
  let values = 0;
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(0x0a, start);
    JSON.parse(bytes.toString('utf8', start + HEAD_BYTES, end));
    values++;
    start = end + 1;
  }
  if (values < RECORDS) throw new Error(`${values} lines`);
}

function journalIn(root: string): string {
  const [id] = fs.readdirSync(path.join(root, 'sessions'));
  return journalOf(path.join(root, 'sessions', id ?? ''));
}

async function measure(task: Task, root: string): Promise<void> {
  let blocked = 0;
  let last = performance.now();
  const tick = (): void => {
    const now = performance.now();
    blocked = Math.max(blocked, now - last);
    last = now;
  };
  const ticks = task === 'watched' || task === 'parse' ? setInterval(tick, 1) : undefined;
  await new Promise(resolve => setTimeout(resolve, 50));
  // As every host does when it starts: loading the lock's native part is nothing that an archive costs.
  await lockSupport();
  blocked = 0;
  let close = (): Promise<void> => Promise.resolve();
  const start = performance.now();
  if (task === 'open' || task === 'watched') close = await measureOpen(root);
  else if (task === 'parse') measureParse(root);
  else if (task === 'read') fs.readFileSync(journalIn(root));
  const ms = performance.now() - start;
  await new Promise(resolve => setTimeout(resolve, 5));
  clearInterval(ticks);
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await new Promise(resolve => setTimeout(resolve, 20));
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  console.log(JSON.stringify({ ms, held: heapUsed + external, rss, blocked }));
  await close();
}

const [, , word, task, root] = process.argv;
if (word === 'measure' && task !== undefined && root !== undefined) await measure(task as Task, root);
