import fs from 'node:fs';
import path from 'node:path';
import { writeSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { Archive } from '../../extension/archive/archive';
import type { SessionId } from '../../extension/archive/ids';
import type { StoredMessage } from '../../extension/archive/message';
import { openArchiveFolder } from '../../extension/storage/archiveFolder';
import { CACHE, SetupError } from '../install.mjs';
import { median, quantile, type Figure, type Report } from './figures.mjs';
import { ensureSqlite, type Database } from './sqlite.mjs';

const RUNS = 7;
/** Messages of one run, one at a time. */
const SINGLES = 300;
const AT_ONCE = 64;
const BURSTS = 12;

/** Milliseconds of each call. */
interface Run {
  readonly ours: number[];
  readonly bare: number[];
  readonly sqlite: number[];
  /** Of 64 at once, in all. */
  readonly bursts: number[];
  /** Of 64 one after the other, in all. */
  readonly series: number[];
}

/** What is measured against: each has a file of its own on the disk of the archive. */
interface Rivals {
  readonly bare: FileHandle;
  readonly sqlite: { readonly insert: (json: string) => void; readonly close: () => void } | undefined;
}

/**
 * [append] of issue 3: what an acknowledged message of 1 kB costs through the product's own `Archive.append`, in a
 * real archive folder under its lock. Baselines are interleaved record by record, in changing order.
 */
export async function run(): Promise<Pick<Report, 'figures' | 'absent'>> {
  fs.mkdirSync(CACHE, { recursive: true });
  // Not in the temporary folder: that may be no disk at all.
  const folder = fs.mkdtempSync(path.join(CACHE, 'bench-append-'));
  const absent: { id: string; reason: string }[] = [];
  let openDatabase: ((file: string) => Database) | undefined;
  try {
    openDatabase = await ensureSqlite();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    for (const id of ['append.sqlite.median', 'append.sqlite.p95'])
      absent.push({ id, reason: `better-sqlite3 cannot be had here. ${error.message}` });
  }
  try {
    const runs: Run[] = [];
    // The first one warms up.
    for (let i = 0; i <= RUNS; i++) {
      const measured = await oneRun(path.join(folder, String(i)), openDatabase);
      if (i > 0) runs.push(measured);
    }
    return { figures: figuresOf(runs), absent };
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function figuresOf(runs: readonly Run[]): Figure[] {
  const over = (of: (run: Run) => number): number => median(runs.map(of));
  const p95 = (values: readonly number[]): number => quantile(values, 0.95);
  const disk = over(run => median(run.bare));
  const compared = (
    id: string,
    of: (values: readonly number[]) => number,
    rival: 'bare' | 'sqlite',
    most: number,
  ): Figure => {
    const ratio = over(run => of(run.ours) / of(run[rival]));
    return {
      id,
      value: over(run => of(run.ours)),
      unit: 'ms',
      baseline: over(run => of(run[rival])),
      ratio,
      bar: `ratio <= ${most}`,
      holds: ratio <= most,
      disk,
    };
  };
  const gain = over(run => median(run.series) / median(run.bursts));
  const figures = [compared('append.bare.median', median, 'bare', 1.25)];
  if (runs.every(run => run.sqlite.length > 0))
    figures.push(
      compared('append.sqlite.median', median, 'sqlite', 1),
      compared('append.sqlite.p95', p95, 'sqlite', 1.25),
    );
  figures.push({
    id: 'append.together',
    value: over(run => (AT_ONCE * 1000) / median(run.bursts)),
    unit: 'messages/s',
    baseline: over(run => (AT_ONCE * 1000) / median(run.series)),
    ratio: gain,
    bar: 'ratio >= 10',
    holds: gain >= 10,
    disk,
  });
  return figures;
}

async function oneRun(folder: string, openDatabase: ((file: string) => Database) | undefined): Promise<Run> {
  const opened = await openArchiveFolder(path.join(folder, 'strata'), {
    sessionId: 'bench' as SessionId,
    cwd: folder,
    sessionFile: path.join(folder, 'session.jsonl'),
  });
  if (opened.state !== 'opened') throw new Error(`The archive was not opened: ${opened.state}`);
  const archive = await Archive.open({
    journal: opened.journal,
    blobs: opened.blobs,
    clock: { now: () => Date.now() },
    log: { info: () => {}, warn: () => {}, error: () => {} },
  });
  const rivals: Rivals = {
    bare: await open(path.join(folder, 'bare'), 'w+'),
    sqlite: openDatabase && database(openDatabase(path.join(folder, 'rival.db'))),
  };
  try {
    const singles = await oneByOne(archive, rivals);
    return { ...singles, ...(await together(archive)) };
  } finally {
    await archive.close();
    await opened.close();
    await rivals.bare.close();
    rivals.sqlite?.close();
  }
}

function database(db: Database): NonNullable<Rivals['sqlite']> {
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec('CREATE TABLE records (id INTEGER PRIMARY KEY, json TEXT NOT NULL)');
  const insert = db.prepare('INSERT INTO records (json) VALUES (?)');
  return { insert: json => void insert.run(json), close: () => db.close() };
}

async function oneByOne(archive: Archive, { bare, sqlite }: Rivals) {
  const ours: number[] = [];
  const raw: number[] = [];
  const inserts: number[] = [];
  let at = 0;
  for (let i = 0; i < SINGLES; i++) {
    const message = messageOf(i);
    const json = lineOf(i, message);
    const bytes = Buffer.from(json);
    const steps = [
      async () => ours.push(await timed(() => archive.append(request(i, message)))),
      async () =>
        raw.push(
          // As the product's own disk does it: a write of this size into the page cache, then a hop for the sync.
          await timed(async () => {
            at += writeSync(bare.fd, bytes, 0, bytes.length, at);
            await bare.datasync();
          }),
        ),
      async () => {
        if (sqlite) inserts.push(await timed(() => sqlite.insert(json)));
      },
    ];
    for (let k = 0; k < steps.length; k++) await steps[(i + k) % steps.length]?.();
  }
  return { ours, bare: raw, sqlite: inserts };
}

async function together(archive: Archive): Promise<Pick<Run, 'bursts' | 'series'>> {
  const bursts: number[] = [];
  const series: number[] = [];
  let n = SINGLES;
  const next = () => {
    const at = n++;
    return request(at, messageOf(at));
  };
  for (let i = 0; i < BURSTS; i++) {
    const batch = Array.from({ length: AT_ONCE }, next);
    bursts.push(await timed(() => Promise.all(batch.map(one => archive.append(one)))));
    const singles = Array.from({ length: AT_ONCE }, next);
    series.push(
      await timed(async () => {
        for (const one of singles) await archive.append(one);
      }),
    );
  }
  return { bursts, series };
}

async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** 1 kB of text that differs from message to message. */
function messageOf(n: number): StoredMessage {
  const words = `message ${n}: ${(n * 2654435761).toString(36)} `;
  return {
    role: 'user',
    content: [{ type: 'text', text: words.repeat(Math.ceil(1000 / words.length)).slice(0, 1000) }],
    timestamp: 1_700_000_000_000 + n,
  };
}

function request(n: number, message: StoredMessage) {
  return { capture: { marker: 'bench', ordinal: n, role: message.role }, message };
}

/** What the product writes for it, to the byte but for the checksum. */
function lineOf(n: number, message: StoredMessage): string {
  const op = { op: 'message', ...request(n, message) };
  return `00000000cccccccc ${JSON.stringify({ n, at: Date.now(), ops: [op] })}\n`;
}
