import type { CaptureColumns } from './captureTable';
import type { JournalPlace } from './journalPosition';
import type { LineColumns } from './lineTable';
import type { MessageColumns } from './messageTable';
import { recordsOfRuns } from './partitionMark';
import { RECORD_KINDS } from './record';
import type { SavedState } from './savedState';
import { turn } from './serial';
import type { SourceColumns } from './sourceTable';

/** Where ECMAScript's dates end, in milliseconds. */
const LAST_TIME = 8.64e15;
const LAST_LEVEL = 52;

/**
 * Whether every number of a state that came from a file points at something that is there: whatever the file says,
 * using the state must not fail, hang or reach past an end. Takes time for every number once, and lets others run in
 * between.
 */
export async function fitsItself(saved: SavedState, place: JournalPlace): Promise<boolean> {
  if (place.byte < 0 || place.commits < 0 || saved.commits !== place.commits) return false;
  const { messages, sources, lines, captures } = saved;
  let through: Float64Array = new Float64Array(0);
  const checks = [
    () => messagesFit(messages, place.byte),
    () => recordsFit(messages),
    () => sourcesFit(sources, messages),
    () => {
      through = throughOf(sources, messages);
      return marksFit(saved, through);
    },
    () => linesFit(lines, sources, messages, through, place.byte),
    () => capturesFit(captures, messages),
  ];
  for (const fits of checks) {
    if (!fits()) return false;
    await turn();
  }
  return true;
}

function messagesFit(columns: MessageColumns, end: number): boolean {
  const { keys, offsets, lengths, ops, firsts, kinds, times, bytes, shown } = columns;
  const rows = offsets.length;
  const records = kinds.length;
  if (keys.length !== 32 * rows || lengths.length !== rows || ops.length !== rows) return false;
  if (firsts.length !== rows || times.length !== records || bytes.length !== records) return false;
  if (shown.length !== records || !placesFit(offsets, lengths, end)) return false;
  let last = 0;
  for (let row = 0; row < rows; row++) {
    const first = firsts[row] as number;
    if (first < last || first > records) return false;
    last = first;
  }
  return rows > 0 ? firsts[0] === 0 : records === 0;
}

function recordsFit({ kinds, times }: MessageColumns): boolean {
  const most = RECORD_KINDS.length;
  for (let i = 0; i < kinds.length; i++) {
    if ((kinds[i] as number) >= most || !(Math.abs(times[i] as number) <= LAST_TIME)) return false;
  }
  return true;
}

function placesFit(offsets: Float64Array, lengths: Uint32Array, end: number): boolean {
  for (let i = 0; i < offsets.length; i++) {
    const offset = offsets[i] as number;
    if (!Number.isSafeInteger(offset) || offset < 0 || offset + (lengths[i] as number) > end) return false;
  }
  return true;
}

function sourcesFit(columns: SourceColumns, all: MessageColumns): boolean {
  const { chains, parents, messages, entryEnds, entries } = columns;
  const rows = parents.length;
  if (chains.length !== 16 * rows || messages.length !== rows || entryEnds.length !== rows) return false;
  let end = 0;
  for (let row = 0; row < rows; row++) {
    // Parents are counted from 1, and come before their children.
    if ((parents[row] as number) > row || recordsAt(all, messages[row] as number) < 1) return false;
    if ((entryEnds[row] as number) < end) return false;
    end = entryEnds[row] as number;
  }
  return end === entries.length;
}

function linesFit(
  lines: LineColumns,
  sources: SourceColumns,
  messages: MessageColumns,
  through: Float64Array,
  end: number,
): boolean {
  const rows = lines.sources.length;
  const same = [lines.ordinals, lines.levels, lines.offsets, lines.lengths, lines.ops, lines.bytes].every(
    column => column.length === rows,
  );
  if (!same || lines.shown.length !== rows || lines.marks.length !== rows) return false;
  if (!placesFit(lines.offsets, lines.lengths, end)) return false;
  for (let row = 0; row < rows; row++) {
    const source = lines.sources[row] as number;
    const ordinal = lines.ordinals[row] as number;
    const level = lines.levels[row] as number;
    if (source >= through.length || level > LAST_LEVEL || lines.bytes[row] === 0) return false;
    const records = recordsAt(messages, sources.messages[source] as number);
    const last = (through[source] as number) - records + ordinal + 1;
    if (ordinal >= records || last < 2 ** level || last % 2 ** level !== 0) return false;
  }
  return true;
}

function capturesFit({ names, messages, bound }: CaptureColumns, all: MessageColumns): boolean {
  const rows = messages.length;
  if (names.length !== 16 * rows || bound.length !== rows) return false;
  const most = all.offsets.length;
  for (let row = 0; row < rows; row++) {
    if ((messages[row] as number) >= most || (bound[row] as number) > 1) return false;
  }
  return true;
}

function marksFit({ marks }: SavedState, through: Float64Array): boolean {
  return marks.every(([row, { runs }]) => row < through.length && recordsOfRuns(runs) === through[row]);
}

/** How many records each source's ancestry has. */
function throughOf(sources: SourceColumns, messages: MessageColumns): Float64Array {
  const through = new Float64Array(sources.parents.length);
  for (let row = 0; row < through.length; row++) {
    const parent = sources.parents[row] as number;
    through[row] =
      (parent === 0 ? 0 : (through[parent - 1] as number)) +
      recordsAt(messages, sources.messages[row] as number);
  }
  return through;
}

/** -1 for a message that is not there. */
function recordsAt({ firsts, kinds }: MessageColumns, message: number): number {
  const first = firsts[message];
  return first === undefined ? -1 : (firsts[message + 1] ?? kinds.length) - first;
}
