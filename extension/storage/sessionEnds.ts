import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { SessionId } from '../archive/ids';
import { readFully } from './frame';

/** Both ends of a session file are read this far, in bytes. */
const END_BYTES = 64 * 1024;
const HEADER_BYTES = 4 * 1024;
const MAX_PROMPT = 500;
const LF = 0x0a;
/** Stands in every line that names the session, and perhaps in others. */
const NAMING = 'session_info';

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

/**
 * What a list shows of a session, from both ends of its file. Lines that don't parse are passed over, as Pi does, and
 * only those are parsed that decide: a list of a thousand sessions must not hold up whoever asks for it.
 */
export async function summarise(handle: FileHandle, size: number): Promise<Summary> {
  const head = wholeLines(await readAt(handle, 0, END_BYTES), true, size <= END_BYTES);
  const from = Math.max(0, size - END_BYTES);
  const tail = from === 0 ? head : wholeLines(await readAt(handle, from, END_BYTES), false, true);
  const name = lastName(tail) ?? lastName(head);
  const lastEntry = first(linesFromEnd(tail), entry => timeOf(entry['timestamp']));
  const firstPrompt = first(linesFromStart(head), promptOf);
  return {
    // Pi takes a name away by giving an empty one.
    ...(name !== undefined && name !== '' && { name }),
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

/** The whole lines of a part of a file, without a line that is cut at its start or end. */
function wholeLines(bytes: Buffer, wholeStart: boolean, wholeEnd: boolean): Buffer {
  const start = wholeStart ? 0 : bytes.indexOf(LF) + 1;
  const end = wholeEnd ? bytes.length : bytes.lastIndexOf(LF) + 1;
  // Without a line end in it, all of it is the middle of one line.
  return !wholeStart && start === 0 ? bytes.subarray(0, 0) : bytes.subarray(start, Math.max(start, end));
}

function* linesFromStart(bytes: Buffer): Iterable<string> {
  for (let at = 0; at < bytes.length;) {
    const lf = bytes.indexOf(LF, at);
    const end = lf === -1 ? bytes.length : lf;
    yield bytes.toString('utf8', at, end);
    at = end + 1;
  }
}

function* linesFromEnd(bytes: Buffer): Iterable<string> {
  for (let end = bytes.length; end > 0;) {
    const start = bytes.lastIndexOf(LF, end - 1) + 1;
    if (start < end) yield bytes.toString('utf8', start, end);
    end = start - 1;
  }
}

/** The name of the last line that gives one; lines of other kinds are not parsed. */
function lastName(bytes: Buffer): string | undefined {
  for (let end = bytes.length; end > 0;) {
    const found = bytes.lastIndexOf(NAMING, end - 1);
    if (found === -1) return undefined;
    const start = bytes.lastIndexOf(LF, found) + 1;
    const lf = bytes.indexOf(LF, found);
    const entry = parseLine(bytes.toString('utf8', start, lf === -1 ? bytes.length : lf));
    const name = entry && nameOf(entry);
    if (name !== undefined) return name;
    end = start;
  }
  return undefined;
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

function first<T>(lines: Iterable<string>, pick: (entry: Fields) => T | undefined): T | undefined {
  for (const line of lines) {
    const entry = parseLine(line);
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
