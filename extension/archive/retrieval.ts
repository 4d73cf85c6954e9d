import { childrenOf, formatAddress, isAddress, type Address } from './address';
import { ArchiveError } from './archiveError';
import type { Branch } from './branch';
import type { Chain, EntryId } from './ids';
import { LiteralSearch } from './literalSearch';
import { pageOf } from './page';
import type { RecordKind } from './record';
import type { ZoomRequest } from './requests';

/** Every answer names its branch: addresses count along one branch only. */
interface Answer {
  readonly branch: Chain;
}
/** Where a record comes from. */
interface Provenance {
  /** The source that holds it and the record's place in it: `chain/ordinal`. */
  readonly sourceEntry: string;
  readonly piEntryId: EntryId;
}
/** One record: a page of its original. */
export interface RecordAnswer extends Answer, Provenance {
  readonly address: string;
  readonly kind: RecordKind;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly text: string;
  /** Bytes of the whole original. */
  readonly bytes: number;
  /** Offset of the next page; null when this is the last. */
  readonly next: number | null;
}
/** Several records: the lines of both halves. */
export interface ChildrenAnswer extends Answer {
  readonly address: string;
  readonly children: readonly { readonly address: string; readonly text: string }[];
}
export type ZoomAnswer = RecordAnswer | ChildrenAnswer;
export interface DateAnswer extends Answer {
  readonly address: string;
  /** ISO 8601. */
  readonly timestamp: string;
}
export interface SearchRequest {
  readonly query: string;
  readonly from: number;
  readonly chain?: Chain;
}
export interface SearchMatch extends Provenance {
  readonly address: string;
  readonly snippet: string;
}
export interface SearchAnswer extends Answer {
  readonly matches: readonly SearchMatch[];
  /** The first record not looked at; null at the end. To be followed even when nothing matched. */
  readonly next: number | null;
  readonly scanned: number;
  readonly total: number;
}

const QUERY_UNITS = 200;
const SCAN_RECORDS = 250;
const SCAN_MATCHES = 20;

/** Opens an address: one record gives a page of its original, more give the lines of both halves (spec/archive.md 7.1). */
export async function zoom(branch: Branch, { start, count, offset }: ZoomRequest): Promise<ZoomAnswer> {
  if (!isAddress(start, count))
    throw new ArchiveError(
      'invalid',
      `${start}+${count} is no address: the count is a power of two and the start a multiple of it.`,
    );
  const a: Address = { start, count };
  return count === 1 ? zoomRecord(branch, a, offset) : zoomNode(branch, a);
}

/** When a record was made. */
export function date(branch: Branch, start: number): DateAnswer {
  needRecord(branch, start);
  const { timestamp } = branch.record(start);
  return { branch: branch.chain, address: `${start}+1`, timestamp: isoTime(timestamp) };
}

/**
 * A literal, case-insensitive search over raw texts from record `from` on, oldest first. One call ends after 250
 * records or 20 matches, whichever comes first (spec/archive.md 7.3).
 */
export async function search(branch: Branch, { query, from }: SearchRequest): Promise<SearchAnswer> {
  if (typeof query !== 'string' || query.trim() === '' || query.length > QUERY_UNITS)
    throw new ArchiveError('invalid', `A search needs a text of 1 to ${QUERY_UNITS} characters.`);
  const total = branch.records;
  if (!Number.isSafeInteger(from) || from < 0 || from > total)
    throw new ArchiveError('invalid', `A search starts at a record from 0 to ${total}.`);
  const literal = new LiteralSearch(query);
  const matches: SearchMatch[] = [];
  const last = Math.min(total, from + SCAN_RECORDS);
  let at = from;
  while (at < last && matches.length < SCAN_MATCHES) {
    const snippet = literal.snippet(await branch.raw(at));
    if (snippet !== undefined) matches.push({ address: `${at}+1`, ...provenance(branch, at), snippet });
    at++;
  }
  return { branch: branch.chain, matches, next: at < total ? at : null, scanned: at - from, total };
}

async function zoomNode(branch: Branch, a: Address): Promise<ChildrenAnswer> {
  const children = childrenOf(a) ?? [];
  if (a.start + a.count > branch.processed || children.some(child => !branch.line(child)))
    throw new ArchiveError(
      'invalid',
      `${formatAddress(a)} is not summarised yet: ${branch.processed} of ${branch.records} records are. ` +
        'Single records can be opened with count 1.',
    );
  const halves: { readonly address: string; readonly text: string }[] = [];
  for (const child of children)
    halves.push({ address: formatAddress(child), text: await branch.lineText(child) });
  return { branch: branch.chain, address: formatAddress(a), children: halves };
}

async function zoomRecord(branch: Branch, a: Address, offset: number): Promise<RecordAnswer> {
  needRecord(branch, a.start);
  const { kind, timestamp, bytes } = branch.record(a.start);
  const page = pageOf(await branch.raw(a.start), offset);
  if (!page)
    throw new ArchiveError(
      'invalid',
      `${offset} is no offset of this record: use 0 or the "next" of the page before; it has ${bytes} bytes.`,
    );
  return {
    branch: branch.chain,
    address: formatAddress(a),
    kind,
    ...provenance(branch, a.start),
    timestamp: isoTime(timestamp),
    ...page,
  };
}

function provenance(branch: Branch, record: number): Provenance {
  const source = branch.sourceOf(record);
  return { sourceEntry: `${source.chain}/${record - source.first}`, piEntryId: source.entry };
}

function needRecord(branch: Branch, record: number): void {
  if (!Number.isSafeInteger(record) || record < 0 || record >= branch.records)
    throw new ArchiveError(
      'invalid',
      branch.records === 0
        ? 'Nothing is remembered yet.'
        : `There is no record ${record}: records go from 0 to ${branch.records - 1}.`,
    );
}

function isoTime(timestamp: number): string {
  return new Date(timestamp).toISOString();
}
