import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Journal } from '../../../extension/archive/ports';
import { encodeFrame } from '../../../extension/storage/frame';
import { createJournal } from '../../../extension/storage/journal';
import { openJournal } from '../../../extension/storage/journalOpen';

/** A line of varied length, with characters of one to four bytes. */
export function line(n: number): string {
  return JSON.stringify({ n, text: `${'é漢🙂x'.repeat(n % 7)} "quoted" \n\u2028` });
}

export function framed(lines: readonly string[]): Buffer {
  return Buffer.concat(lines.map(encodeFrame));
}

export async function newJournal(file: string): Promise<Journal> {
  await createJournal(file);
  return openJournal(file);
}

export async function all(journal: Journal): Promise<string[]> {
  const lines: string[] = [];
  for await (const frames of journal.frames()) lines.push(...frames.map(frame => frame.json));
  return lines;
}

/** The bytes that recovery put aside, one buffer a file. */
export function kept(folder: string): Buffer[] {
  return readdirSync(folder)
    .filter(name => name.startsWith('journal.broken-'))
    .map(name => readFileSync(path.join(folder, name)));
}
