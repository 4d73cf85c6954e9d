import type { TurnId } from '../archive/ids';
import type { TokenUsage } from '../archive/ops';
import type { SummaryReply } from '../archive/ports';
import type { BindReply, FrozenView, OpenReply, Progress } from '../archive/requests';
import { count, fields, flag, hex, list, name, text } from './fields';
import type { HelloReply, ZoomReply } from './protocol';
import { parseChain, parseEntry, parseTurn } from './validateRequests';

const MAX_REASON = 4096;
const MAX_BLOCKS = 1_000_000;
const MAX_TEXT = 16 * 1024 * 1024;

export function parseHelloReply(value: unknown): HelloReply | undefined {
  const v = fields(value);
  if (v?.['ok'] === false) {
    const reason = text(v['reason'], MAX_REASON);
    return reason === undefined ? undefined : { ok: false, reason };
  }
  const version = count(v?.['version']);
  const host = fields(v?.['host']);
  const pid = count(host?.['pid']);
  const hostName = text(host?.['name'], 256);
  if (v?.['ok'] !== true || version === undefined || pid === undefined || hostName === undefined)
    return undefined;
  return { ok: true, version, host: { pid, name: hostName } };
}

export function parseOpenReply(value: unknown): OpenReply | undefined {
  const v = fields(value);
  const archive = name(v?.['archive'], 64);
  const memory = flag(v?.['memory']);
  const chain = parseChain(v?.['chain']);
  const records = count(v?.['records']);
  if (archive === undefined || memory === undefined || chain === undefined || records === undefined)
    return undefined;
  return { archive, memory, chain, records };
}

export function parseBindReply(value: unknown): BindReply | undefined {
  const v = fields(value);
  if (v?.['ok'] === true) {
    const chain = parseChain(v['chain']);
    const records = count(v['records']);
    return chain === undefined || records === undefined ? undefined : { ok: true, chain, records };
  }
  if (v?.['ok'] !== false) return undefined;
  if (v['reason'] === 'unknown-chain') return { ok: false, reason: 'unknown-chain' };
  const entry = parseEntry(v['entry']);
  return v['reason'] === 'unknown-capture' && entry !== undefined
    ? { ok: false, reason: 'unknown-capture', entry }
    : undefined;
}

export function parseProgress(value: unknown): (Progress & { readonly turn: TurnId }) | undefined {
  const v = fields(value);
  const turn = parseTurn(v?.['turn']);
  const done = count(v?.['done']);
  const total = count(v?.['total']);
  return turn === undefined || done === undefined || total === undefined ? undefined : { turn, done, total };
}

/** `bytes` is counted again here; the hash is checked by whoever sends the view on. */
export function parseFrozenView(value: unknown): FrozenView | undefined {
  const v = fields(value);
  const turn = parseTurn(v?.['turn']);
  const records = count(v?.['records']);
  const blocks = list(v?.['blocks'], MAX_BLOCKS, b => text(b, MAX_TEXT));
  const bytes = count(v?.['bytes']);
  const sha256 = hex(v?.['sha256'], 64);
  if (turn === undefined || records === undefined || blocks === undefined) return undefined;
  if (sha256 === undefined || bytes !== byteLength(blocks)) return undefined;
  return { turn, records, blocks, bytes, sha256 };
}

function byteLength(texts: readonly string[]): number {
  let bytes = 0;
  for (const t of texts) bytes += Buffer.byteLength(t, 'utf8');
  return bytes;
}

/** Retrieval's answers are data for the model or a person: any JSON object passes. */
export function parseAnswer(value: unknown): ZoomReply | undefined {
  return fields(value);
}

/** The answer to a request that only says that it was done. */
export function parseDone(value: unknown): true | undefined {
  return value === null ? true : undefined;
}

function parseUsage(value: unknown): TokenUsage | undefined {
  const v = fields(value);
  const [input, output, cacheRead, cacheWrite] = [
    count(v?.['input']),
    count(v?.['output']),
    count(v?.['cacheRead']),
    count(v?.['cacheWrite']),
  ];
  const cost = v?.['cost'];
  if (input === undefined || output === undefined || cacheRead === undefined || cacheWrite === undefined)
    return undefined;
  if (typeof cost !== 'number' || !Number.isFinite(cost) || cost < 0) return undefined;
  return { input, output, cacheRead, cacheWrite, cost };
}

export function parseSummaryReply(value: unknown): SummaryReply | undefined {
  const v = fields(value);
  if (v?.['ok'] === false) {
    const reason = text(v['reason'], MAX_TEXT)?.slice(0, MAX_REASON);
    return reason === undefined ? undefined : { ok: false, reason };
  }
  const reply = text(v?.['text'], MAX_TEXT);
  const model = name(v?.['model'], 512);
  const usage = parseUsage(v?.['usage']);
  if (v?.['ok'] !== true || reply === undefined || model === undefined || usage === undefined)
    return undefined;
  return { ok: true, text: reply, model, usage };
}
