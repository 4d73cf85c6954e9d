import { childrenOf, formatAddress, type Address } from '../archive/address';
import type { Line } from '../archive/line';
import { leafMethod } from '../archive/node';
import type { Method, NodeOrigin } from '../archive/ops';
import type { RecordKind } from '../archive/record';
import type { RecordMeta } from '../archive/source';
import { counted, exactTime, formatBytes, formatCount, relativeTime } from './figures';

/** What the rows ask of a branch; `archive/branch.ts` has it. */
export interface LineSource {
  readonly records: number;
  line(a: Address): Line | undefined;
  record(record: number): RecordMeta;
}

/** What is read of a row: its line's text, or the beginning of its first record where it has no line yet. */
export interface RowText {
  readonly text: string;
  /** How a model's line came about. */
  readonly by?: NodeOrigin;
}

/** `waiting`: no line yet, so the row says what it stands for by its first record. */
export type RowMethod = Method | 'waiting';

/** One row of the Memory view, ready to be drawn. */
export interface MemoryRow {
  readonly address: Address;
  readonly label: string;
  readonly method: RowMethod;
  /** Present for a single record: the row leads to its original. */
  readonly kind?: RecordKind;
  readonly description: string;
  readonly tooltip: string;
  readonly oversized: boolean;
  readonly clipped: boolean;
}

/** A label is cut by the view's width anyway; this only keeps a huge one from being laid out. */
const LABEL_CHARS = 400;
/** Records that came after the view, shown one by one up to this many. */
const LOOSE_RECORDS = 64;
/** How many parts a stretch without a line opens into: there is no text to read on the way down. */
const WAITING_FAN = 16;

/**
 * The top of the Memory view: the parts of the current view, then what came after it, which the next prompt's view
 * will hold. A short remainder is shown record by record, a long one (a session that was only just read) in runs.
 */
export function topAddresses(parts: Iterable<Address>, records: number): Address[] {
  const out = [...parts].filter(a => a.start + a.count <= records);
  const last = out.at(-1);
  let at = last ? last.start + last.count : 0;
  while (at < records) {
    const left = records - at;
    let count = 1;
    if (left > LOOSE_RECORDS) while (at % (count * 2) === 0 && count * 2 <= left) count *= 2;
    out.push({ start: at, count });
    at += count;
  }
  return out;
}

/** What a row opens into: its two halves, or more of them where no line tells them apart yet. */
export function addressesBelow(source: LineSource, a: Address): readonly Address[] {
  if (source.line(a)) return childrenOf(a) ?? [];
  const count = Math.max(1, a.count / WAITING_FAN);
  return a.count === 1 ? [] : runs(a.start, a.count / count, count);
}

function runs(start: number, times: number, count: number): Address[] {
  return Array.from({ length: times }, (_, i) => ({ start: start + i * count, count }));
}

/**
 * A row as it is drawn. `covered` is how many records the current view covers, `now` in milliseconds since 1970. Texts come from records and models: they are plain
 * text, never markup.
 */
export function memoryRow(
  source: LineSource,
  a: Address,
  { text, by }: RowText,
  covered: number,
  now: number,
): MemoryRow {
  const line = source.line(a);
  const first = source.record(a.start);
  const single = a.count === 1;
  const method: RowMethod =
    line?.method ?? (single && leafMethod(first.bytes) === 'verbatim' ? 'verbatim' : 'waiting');
  const size = line ? formatBytes(line.bytes) : single ? formatBytes(first.bytes) : undefined;
  return {
    address: a,
    // Without its count a stretch would look like the one record it begins with.
    label: method === 'waiting' && !single ? `${counted(a.count, 'record')} · ${oneRow(text)}` : oneRow(text),
    method,
    ...(single ? { kind: first.kind } : {}),
    description: [formatAddress(a), size ?? 'no summary yet'].join(' · '),
    tooltip: tooltipOf(source, a, { method, by }, covered, now),
    oversized: line?.oversized ?? false,
    clipped: line?.clipped ?? false,
  };
}

interface Origin {
  readonly method: RowMethod;
  readonly by: NodeOrigin | undefined;
}

function tooltipOf(source: LineSource, a: Address, origin: Origin, covered: number, now: number): string {
  const line = source.line(a);
  const first = source.record(a.start);
  const last = source.record(a.start + a.count - 1);
  const single = a.count === 1;
  const range = single
    ? `Record ${formatCount(a.start)} (${first.kind}), ${formatBytes(first.bytes)}`
    : `Records ${formatCount(a.start)} to ${formatCount(a.start + a.count - 1)} (${formatCount(a.count)})`;
  const when = single
    ? exactTime(first.timestamp)
    : `${exactTime(first.timestamp)} to ${exactTime(last.timestamp)}`;
  const out = [range, when, methodSentence(a, origin, now)];
  if (line?.clipped)
    out.push('The model saw only the beginning and the end of this record: it was too long for it.');
  if (line?.oversized) out.push('Longer than a line should be; the model could not make it shorter.');
  if (a.start >= covered) out.push('Came after the last view; the next prompt’s view will hold it.');
  out.push(
    single ? 'Open it to read the original.' : 'Expand it to see what it stands for, down to the originals.',
  );
  return out.join('\n');
}

function methodSentence(a: Address, { method, by }: Origin, now: number): string {
  switch (method) {
    case 'verbatim':
      return 'The record itself, word for word.';
    case 'concat':
      return 'The records themselves, one after the other.';
    case 'waiting':
      return a.count === 1
        ? 'Too long for a line; it has no summary yet.'
        : 'No summary yet. Shown is the first record.';
    case 'model': {
      if (!by) return 'Summary by a model.';
      const tries = by.attempts > 1 ? `, ${counted(by.attempts, 'attempt')}` : '';
      return `Summary by ${oneRow(by.model)}, ${relativeTime(by.at, now)} (${exactTime(by.at)})${tries}.`;
    }
  }
}

/** One row of plain text: control characters and line breaks would disturb the tree. */
function oneRow(text: string): string {
  const flat = text
    .slice(0, LABEL_CHARS)
    .replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
  return flat || '(empty)';
}
