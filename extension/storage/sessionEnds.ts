import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { SessionId } from '../archive/ids';
import { readFully } from './frame';

/** Both ends of a session file are read this far, in bytes. */
const END_BYTES = 64 * 1024;
const HEADER_BYTES = 4 * 1024;
const MAX_PROMPT = 500;
const LF = 0x0a;

type Fields = { readonly [name: string]: unknown };

export type HeaderRead =
  | {
      readonly state: 'header';
      readonly sessionId: SessionId;
      readonly cwd: string;
      readonly format: number;
      /** Milliseconds since 1970, or 0. */
      readonly created: number;
      readonly parentSession?: string;
    }
  | { readonly state: 'bad'; readonly reason: string };

export interface Summary {
  readonly name?: string;
  readonly firstPrompt?: string;
  /** Milliseconds since 1970. */
  readonly lastEntry?: number;
}

/** Reads the header, the first line of a session file (spec/pi.md 3.3). */
export async function readHeader(handle: FileHandle): Promise<HeaderRead> {
  let bytes = await readAt(handle, 0, HEADER_BYTES);
  if (!bytes.includes(LF)) bytes = await readAt(handle, 0, END_BYTES);
  if (bytes.length === 0) return { state: 'bad', reason: 'The file is empty.' };
  const end = bytes.indexOf(LF);
  const header = parseLine(bytes.toString('utf8', 0, end === -1 ? bytes.length : end));
  const sessionId = header?.['id'];
  const cwd = header?.['cwd'];
  if (header?.['type'] !== 'session' || typeof sessionId !== 'string' || sessionId === '')
    return { state: 'bad', reason: 'The first line is not the header of a Pi session.' };
  if (typeof cwd !== 'string' || !path.isAbsolute(cwd))
    return { state: 'bad', reason: 'The header does not say which folder the session belongs to.' };
  const { version, timestamp, parentSession } = header;
  return {
    state: 'header',
    sessionId: sessionId as SessionId,
    cwd,
    format: typeof version === 'number' ? version : 1,
    created: timeOf(timestamp) ?? 0,
    ...(typeof parentSession === 'string' && { parentSession }),
  };
}

/** What a list shows of a session, from both ends of its file. Lines that don't parse are passed over, as Pi does. */
export async function summarise(handle: FileHandle, size: number): Promise<Summary> {
  const head = linesOf(await readAt(handle, 0, END_BYTES), true, size <= END_BYTES);
  const from = Math.max(0, size - END_BYTES);
  const tail = from === 0 ? head : linesOf(await readAt(handle, from, END_BYTES), false, true);
  const name = lastOf(tail, nameOf) ?? lastOf(head, nameOf);
  const lastEntry = lastOf(tail, e => timeOf(e['timestamp']));
  let firstPrompt: string | undefined;
  for (const entry of head) if ((firstPrompt = promptOf(entry)) !== undefined) break;
  return {
    ...(name !== undefined && { name }),
    ...(firstPrompt !== undefined && { firstPrompt }),
    ...(lastEntry !== undefined && { lastEntry }),
  };
}

function readAt(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  return readFully(
    { read: async (into, from) => (await handle.read(into, 0, into.length, from)).bytesRead },
    at,
    length,
  );
}

/** The entries on whole lines; the first or last line of a part may be cut. */
function linesOf(bytes: Buffer, wholeStart: boolean, wholeEnd: boolean): readonly Fields[] {
  const start = wholeStart ? 0 : bytes.indexOf(LF) + 1;
  const end = wholeEnd ? bytes.length : bytes.lastIndexOf(LF) + 1;
  const entries: Fields[] = [];
  for (const line of bytes.toString('utf8', start, Math.max(start, end)).split('\n')) {
    const entry = parseLine(line);
    if (entry) entries.push(entry);
  }
  return entries;
}

function parseLine(line: string): Fields | undefined {
  try {
    return fieldsOf(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function lastOf<T>(entries: readonly Fields[], pick: (entry: Fields) => T | undefined): T | undefined {
  for (let i = entries.length - 1; i >= 0; i--) {
    const entry = entries[i];
    const found = entry && pick(entry);
    if (found !== undefined) return found;
  }
  return undefined;
}

function nameOf(entry: Fields): string | undefined {
  const name = entry['type'] === 'session_info' ? entry['name'] : undefined;
  return typeof name === 'string' ? name.trim() : undefined;
}

function promptOf(entry: Fields): string | undefined {
  const message = entry['type'] === 'message' ? fieldsOf(entry['message']) : undefined;
  if (message?.['role'] !== 'user') return undefined;
  const { content } = message;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content];
  const texts = parts.map(p => (typeof p === 'string' ? p : fieldsOf(p)?.['text']));
  const text = texts
    .filter(t => typeof t === 'string')
    .join(' ')
    .trim();
  return text === '' ? undefined : text.slice(0, MAX_PROMPT);
}

function timeOf(value: unknown): number | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : value;
  return typeof time === 'number' && Number.isFinite(time) ? time : undefined;
}
