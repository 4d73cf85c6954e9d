import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Archive, type ArchiveOptions } from '../../../extension/archive/archive';
import { archiveIdFor } from '../../../extension/archive/canonical';
import type { Capture, SessionId } from '../../../extension/archive/ids';
import type { StoredMessage } from '../../../extension/archive/message';
import type { Clock, Log } from '../../../extension/archive/ports';
import type { SessionIdentity } from '../../../extension/archive/requests';
import { archiveDir, openArchiveFolder, type OpenedArchive } from '../../../extension/storage/archiveFolder';
import { nodeDisk, type Disk } from '../../../extension/storage/disk';

export const ME: SessionIdentity = {
  sessionId: 'my session' as SessionId,
  cwd: '/home/me/project',
  sessionFile: '/home/me/s.jsonl',
};
const SILENT: Log = { info: () => {}, warn: () => {}, error: () => {} };

/** A session's archive as the product opens it: a real folder, its lock, its journal, its blobs. */
export interface Owned {
  readonly archive: Archive;
  readonly folder: Extract<OpenedArchive, { state: 'opened' }>;
  readonly close: () => Promise<void>;
}

/** Where `own` puts the archive's files. */
export function ownDir(root: string): string {
  return archiveDir(root, archiveIdFor(ME.cwd, ME.sessionId));
}
export function ownJournal(root: string, generation = 1): string {
  return path.join(ownDir(root), `journal-${generation}.jsonl`);
}

/** Opens, or makes, the one archive below `root`. Fails the test when that is refused. */
export async function own(
  root: string,
  disk: Disk = nodeDisk,
  clock: Clock = { now: () => Date.now() },
  options: Partial<ArchiveOptions> = {},
): Promise<Owned> {
  const folder = await openArchiveFolder(root, ME, undefined, disk);
  assert.ok(folder.state === 'opened', folder.state === 'refused' ? folder.reason : folder.state);
  const { journal, blobs } = folder;
  const archive = await Archive.open({ journal, blobs, clock, log: SILENT, ...options }).catch(
    async (e: unknown) => {
      await folder.close();
      throw e;
    },
  );
  const close = async (): Promise<void> => {
    await archive.close();
    await folder.close();
  };
  return { archive, folder, close };
}

/** Opens the folder below `root` and reads its journal, which checks it. Rejects when either fails, with nothing held. */
export async function openAndRead(root: string, disk: Disk): Promise<OpenedArchive> {
  const opened = await openArchiveFolder(root, ME, undefined, disk);
  if (opened.state !== 'opened') return opened;
  try {
    for await (const _ of opened.journal.frames());
    return opened;
  } catch (e) {
    await opened.close();
    throw e;
  }
}

export function capture(ordinal: number, marker = 'm1'): Capture {
  return { marker, ordinal, role: 'user' };
}
export function said(text: string, timestamp = 1_700_000_000_000): StoredMessage {
  return { role: 'user', content: [{ type: 'text', text }], timestamp };
}

/** The texts of the captured messages that a journal file holds, in order, by the file's bytes alone. */
export function capturedTexts(journal: string): string[] {
  const texts: string[] = [];
  for (const line of wholeLines(journal)) {
    const { ops } = JSON.parse(line.slice(17)) as {
      ops: { op: string; message?: { content: { text: string }[] } }[];
    };
    for (const { op, message } of ops)
      if (op === 'message') texts.push(message?.content.map(({ text }) => text).join('') ?? '');
  }
  return texts;
}

/** The numbers of the commits that a journal file holds. */
export function commitNumbers(journal: string): number[] {
  return wholeLines(journal).map(line => (JSON.parse(line.slice(17)) as { n: number }).n);
}

/** A kill in the middle of a write leaves a last line without its end. */
function wholeLines(journal: string): string[] {
  return readFileSync(journal, 'utf8').split('\n').slice(0, -1);
}

/** A small image, different for each number. */
export function png(n: number, bytes = 400): Buffer {
  const head = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  const body = Buffer.alloc(bytes);
  for (let i = 0; i < bytes; i++) body[i] = (i * 31 + n * 17 + (i >> 3)) & 0xff;
  return Buffer.concat([head, body]);
}
export function withImage(text: string, image: Buffer): StoredMessage {
  return {
    role: 'user',
    content: [
      { type: 'text', text },
      { type: 'image', mimeType: 'image/png', data: image.toString('base64') },
    ],
    timestamp: 1_700_000_000_000,
  };
}
