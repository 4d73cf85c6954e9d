import { isAddress } from './address';
import type { Capture, Chain, EntryId, TurnId } from './ids';
import { isObject } from './json';
import type {
  BindOp,
  Commit,
  MessageOp,
  ModeOp,
  NodeEnd,
  NodeOp,
  NodeOrigin,
  Op,
  PartitionOp,
  PartitionRuns,
  ReceiptOp,
  SentOp,
  TokenUsage,
} from './ops';
import { parseMessage } from './parseMessage';

type Fields = { readonly [name: string]: unknown };

const CHAIN = /^[0-9a-f]{32}$/;
const SHA256 = /^[0-9a-f]{64}$/;
/** A run length above this is no partition of records that fit a disk. */
const MAX_LEVEL = 52;

/**
 * A journal line's JSON as a commit, or undefined when it is none. A line with a right checksum can still come from
 * another program or a later version, so nothing is believed: an op with one wrong field makes the whole commit
 * none, because a commit is one decision. Never throws.
 */
export function parseCommit(json: string): Commit | undefined {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (!isObject(value) || !isCount(value['n']) || !isTime(value['at']) || !Array.isArray(value['ops']))
    return undefined;
  const ops: Op[] = [];
  for (const item of value['ops'] as unknown[]) {
    const op = parseOp(item);
    if (!op) return undefined;
    ops.push(op);
  }
  return { n: value['n'], at: value['at'], ops };
}

/** Where a message of the live session stood when it was captured; undefined for anything else. */
export function parseCapture(value: unknown): Capture | undefined {
  if (!isObject(value)) return undefined;
  const { marker, ordinal, role, toolCallId } = value;
  if (!isText(marker) || !isCount(ordinal) || !isText(role)) return undefined;
  if (toolCallId === undefined) return { marker, ordinal, role };
  return isText(toolCallId) ? { marker, ordinal, role, toolCallId } : undefined;
}

function parseOp(value: unknown): Op | undefined {
  if (!isObject(value)) return undefined;
  switch (value['op']) {
    case 'message':
      return parseMessageOp(value);
    case 'bind':
      return parseBindOp(value);
    case 'node':
      return parseNodeOp(value);
    case 'partition':
      return parsePartitionOp(value);
    case 'receipt':
      return parseReceiptOp(value);
    case 'sent':
      return parseSentOp(value);
    case 'mode':
      return parseModeOp(value);
    default:
      return undefined;
  }
}

function parseMessageOp(value: Fields): MessageOp | undefined {
  const capture = parseCapture(value['capture']);
  const message = parseMessage(value['message'], 'journal');
  return capture && message && { op: 'message', capture, message };
}

function parseBindOp(value: Fields): BindOp | undefined {
  const { after, chain, entry } = value;
  const capture = value['capture'] === undefined ? undefined : parseCapture(value['capture']);
  const message = value['message'] === undefined ? undefined : parseMessage(value['message'], 'journal');
  if (!isChain(after) || !isChain(chain) || !isText(entry)) return undefined;
  if ((value['capture'] !== undefined && !capture) || (value['message'] !== undefined && !message))
    return undefined;
  if (!capture && !message) return undefined;
  return {
    op: 'bind',
    after,
    chain,
    entry: entry as EntryId,
    ...(capture && { capture }),
    ...(message && { message }),
  };
}

function parseNodeOp(value: Fields): NodeOp | undefined {
  const { count, text, oversized, clipped } = value;
  const end = parseEnd(value['end']);
  const by = parseOrigin(value['by']);
  if (!end || !by || !isCount(count) || !isAddress(0, count) || !isText(text)) return undefined;
  if (typeof oversized !== 'boolean' || typeof clipped !== 'boolean') return undefined;
  return { op: 'node', end, count, text, oversized, clipped, by };
}

function parsePartitionOp(value: Fields): PartitionOp | undefined {
  const { base, chain, target, revision } = value;
  const merges = parsePairs(value['merges'], (start, count) => isAddress(start, count) && count > 1);
  if (!isChain(base) || !isChain(chain) || !merges || !isCount(revision)) return undefined;
  if (target !== null && !isCount(target)) return undefined;
  return { op: 'partition', base, chain, merges, target, revision };
}

function parseReceiptOp(value: Fields): ReceiptOp | undefined {
  const { turn, chain, records, budget, bytes, sha256 } = value;
  const parts: PartitionRuns | undefined = parsePairs(
    value['parts'],
    (level, times) => level <= MAX_LEVEL && times > 0 && times * 2 ** level <= Number.MAX_SAFE_INTEGER,
  );
  if (!isText(turn) || !isChain(chain) || !isCount(records) || !parts) return undefined;
  if (!isCount(budget) || !isCount(bytes) || typeof sha256 !== 'string' || !SHA256.test(sha256))
    return undefined;
  return { op: 'receipt', turn: turn as TurnId, chain, records, parts, budget, bytes, sha256 };
}

function parseSentOp(value: Fields): SentOp | undefined {
  const { turn, requests, status } = value;
  if (!isText(turn) || !isCount(requests) || (status !== null && !isCount(status))) return undefined;
  return { op: 'sent', turn: turn as TurnId, requests, status };
}

function parseModeOp(value: Fields): ModeOp | undefined {
  return typeof value['on'] === 'boolean' ? { op: 'mode', on: value['on'] } : undefined;
}

function parseEnd(value: unknown): NodeEnd | undefined {
  if (!isObject(value) || !isChain(value['chain']) || !isCount(value['ordinal'])) return undefined;
  return { chain: value['chain'], ordinal: value['ordinal'] };
}

function parseOrigin(value: unknown): NodeOrigin | undefined {
  if (!isObject(value)) return undefined;
  const { model, promptVersion, attempts, at } = value;
  const usage = parseUsage(value['usage']);
  if (typeof model !== 'string' || !isCount(promptVersion) || !isCount(attempts) || !usage || !isTime(at))
    return undefined;
  return { model, promptVersion, attempts, usage, at };
}

function parseUsage(value: unknown): TokenUsage | undefined {
  if (!isObject(value)) return undefined;
  const { input, output, cacheRead, cacheWrite, cost } = value;
  if (!isAmount(input) || !isAmount(output) || !isAmount(cacheRead) || !isAmount(cacheWrite))
    return undefined;
  return isAmount(cost) ? { input, output, cacheRead, cacheWrite, cost } : undefined;
}

function parsePairs(
  value: unknown,
  fits: (a: number, b: number) => boolean,
): (readonly [number, number])[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const pairs: (readonly [number, number])[] = [];
  for (const item of value as unknown[]) {
    if (!Array.isArray(item) || item.length !== 2) return undefined;
    const [a, b] = item as unknown[];
    if (!isCount(a) || !isCount(b) || !fits(a, b)) return undefined;
    pairs.push([a, b]);
  }
  return pairs;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
function isChain(value: unknown): value is Chain {
  return typeof value === 'string' && CHAIN.test(value);
}
function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
