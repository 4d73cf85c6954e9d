import path from 'node:path';
import type { Capture, Chain, EntryId, SessionId, TurnId } from '../archive/ids';
import { parseMessage } from '../archive/parseMessage';
import type { SummaryRequest } from '../archive/ports';
import type {
  AppendRequest,
  BindRequest,
  BindSource,
  ModelLimits,
  PrepareRequest,
  SessionIdentity,
  SettledRequest,
  ZoomRequest,
} from '../archive/requests';
import { count, fields, flag, hex, list, name, optional, text } from './fields';
import type { Hello } from './protocol';

/** Every value that came over the link is hostile until one of these has passed it; unknown fields are dropped. */

const MAX_ID = 512;
const MAX_PATH = 4096;
const MAX_SOURCES = 100_000;
const MAX_BLOCKS = 10_000;
const MAX_TEXT = 16 * 1024 * 1024;
const MAX_QUERY = 64 * 1024;
const MAX_TIMEOUT_MS = 24 * 3600 * 1000;

export function parseChain(value: unknown): Chain | undefined {
  return hex(value, 32) as Chain | undefined;
}

export function parseTurn(value: unknown): TurnId | undefined {
  return name(value, MAX_ID) as TurnId | undefined;
}

export function parseEntry(value: unknown): EntryId | undefined {
  return name(value, MAX_ID) as EntryId | undefined;
}

function absolutePath(value: unknown): string | undefined {
  const file = name(value, MAX_PATH);
  return file !== undefined && path.isAbsolute(file) ? file : undefined;
}

export function parseIdentity(value: unknown): SessionIdentity | undefined {
  const v = fields(value);
  const sessionId = name(v?.['sessionId'], MAX_ID) as SessionId | undefined;
  const cwd = absolutePath(v?.['cwd']);
  const sessionFile = optional(v?.['sessionFile'], absolutePath);
  // What Pi's header says of its parent is free text until somebody opens it.
  const parentSession = optional(v?.['parentSession'], p => name(p, MAX_PATH));
  if (sessionId === undefined || cwd === undefined || !sessionFile.ok || !parentSession.ok) return undefined;
  return {
    sessionId,
    cwd,
    ...(sessionFile.value !== undefined && { sessionFile: sessionFile.value }),
    ...(parentSession.value !== undefined && { parentSession: parentSession.value }),
  };
}

export function parseHello(value: unknown): Hello | undefined {
  const v = fields(value);
  const token = hex(v?.['token'], 64);
  const version = count(v?.['version']);
  const session = parseIdentity(v?.['session']);
  if (token === undefined || version === undefined || session === undefined) return undefined;
  return { token, version, session };
}

export function parseCapture(value: unknown): Capture | undefined {
  const v = fields(value);
  const marker = name(v?.['marker'], MAX_ID);
  const ordinal = count(v?.['ordinal']);
  const role = name(v?.['role'], MAX_ID);
  const toolCallId = optional(v?.['toolCallId'], t => text(t, MAX_ID));
  if (marker === undefined || ordinal === undefined || role === undefined || !toolCallId.ok) return undefined;
  return { marker, ordinal, role, ...(toolCallId.value !== undefined && { toolCallId: toolCallId.value }) };
}

export function parseAppend(value: unknown): AppendRequest | undefined {
  const v = fields(value);
  const capture = parseCapture(v?.['capture']);
  const message = parseMessage(v?.['message']);
  return capture && message && { capture, message };
}

function parseSource(value: unknown): BindSource | undefined {
  const v = fields(value);
  const entry = parseEntry(v?.['entry']);
  const capture = optional(v?.['capture'], parseCapture);
  const message = optional(v?.['message'], parseMessage);
  const guess = optional(v?.['guess'], parseCapture);
  if (entry === undefined || !capture.ok || !message.ok || !guess.ok) return undefined;
  // With neither there is nothing to bind.
  if (capture.value === undefined && message.value === undefined) return undefined;
  return {
    entry,
    ...(capture.value && { capture: capture.value }),
    ...(message.value && { message: message.value }),
    ...(guess.value && { guess: guess.value }),
  };
}

export function parseBind(value: unknown): BindRequest | undefined {
  const v = fields(value);
  const after = parseChain(v?.['after']);
  const sources = list(v?.['sources'], MAX_SOURCES, parseSource);
  return after && sources && { after, sources };
}

function parseModel(value: unknown): ModelLimits | undefined {
  const v = fields(value);
  const model = name(v?.['name'], MAX_ID);
  const window = count(v?.['window']);
  const maxTokens = count(v?.['maxTokens']);
  if (model === undefined || window === undefined || maxTokens === undefined) return undefined;
  return { name: model, window, maxTokens };
}

export function parsePrepare(value: unknown): PrepareRequest | undefined {
  const v = fields(value);
  const turn = parseTurn(v?.['turn']);
  const chain = parseChain(v?.['chain']);
  const model = parseModel(v?.['model']);
  return turn && chain && model && { turn, chain, model };
}

export function parseSettled(value: unknown): SettledRequest | undefined {
  const v = fields(value);
  const turn = parseTurn(v?.['turn']);
  const requests = count(v?.['requests']);
  const status = v?.['status'] === null ? null : count(v?.['status'], 999);
  if (turn === undefined || requests === undefined || status === undefined) return undefined;
  return { turn, requests, status };
}

export function parseZoom(value: unknown): ZoomRequest | undefined {
  const v = fields(value);
  const start = count(v?.['start']);
  const n = count(v?.['count']);
  const offset = count(v?.['offset']);
  const chain = optional(v?.['chain'], parseChain);
  if (start === undefined || n === undefined || offset === undefined || !chain.ok) return undefined;
  return { start, count: n, offset, ...(chain.value && { chain: chain.value }) };
}

export interface DateRequest {
  readonly start: number;
  readonly chain?: Chain;
}
export function parseDate(value: unknown): DateRequest | undefined {
  const v = fields(value);
  const start = count(v?.['start']);
  const chain = optional(v?.['chain'], parseChain);
  if (start === undefined || !chain.ok) return undefined;
  return { start, ...(chain.value && { chain: chain.value }) };
}

export interface SearchRequest {
  readonly query: string;
  readonly from: number;
  readonly chain?: Chain;
}
export function parseSearch(value: unknown): SearchRequest | undefined {
  const v = fields(value);
  const query = text(v?.['query'], MAX_QUERY);
  const from = count(v?.['from']);
  const chain = optional(v?.['chain'], parseChain);
  if (query === undefined || from === undefined || !chain.ok) return undefined;
  return { query, from, ...(chain.value && { chain: chain.value }) };
}

export function parseMode(value: unknown): { readonly on: boolean } | undefined {
  const on = flag(fields(value)?.['on']);
  return on === undefined ? undefined : { on };
}

function parseRetry(value: unknown): { reply: string; feedback: string } | undefined {
  const v = fields(value);
  const reply = text(v?.['reply'], MAX_TEXT);
  const feedback = text(v?.['feedback'], MAX_TEXT);
  return reply === undefined || feedback === undefined ? undefined : { reply, feedback };
}

export function parseSummaryRequest(value: unknown): SummaryRequest | undefined {
  const v = fields(value);
  const system = text(v?.['system'], MAX_TEXT);
  const blocks = list(v?.['blocks'], MAX_BLOCKS, b => text(b, MAX_TEXT));
  const retries = list(v?.['retries'], 16, parseRetry);
  const maxOutputTokens = count(v?.['maxOutputTokens']);
  const timeoutMs = count(v?.['timeoutMs'], MAX_TIMEOUT_MS);
  if (system === undefined || blocks === undefined || retries === undefined) return undefined;
  if (maxOutputTokens === undefined || timeoutMs === undefined) return undefined;
  return { system, blocks, retries, maxOutputTokens, timeoutMs };
}
