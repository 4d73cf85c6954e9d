import { factsOf, parseFacts } from './checkpointFacts';
import { fitsItself } from './checkpointCheck';
import { isObject } from './json';
import type { JournalPlace } from './journalPosition';
import type { SavedState } from './savedState';

/** A state as its owner kept it, and the place in the journal that it is the state of. */
export interface Checkpoint {
  readonly place: JournalPlace;
  readonly saved: SavedState;
}

/** Grows with every change of the form below, and of what any part of a state means. */
const VERSION = 1;
/** Columns start at multiples of this, so that they can be used where they are. */
const ALIGN = 8;
const HASH = /^[0-9a-f]{64}$/;

const KINDS = { bytes: Uint8Array, words: Uint32Array, numbers: Float64Array } as const;
type Kind = keyof typeof KINDS;

/** Every column, in the order they are written. */
const COLUMNS = [
  ['messages', 'keys', 'bytes'],
  ['messages', 'offsets', 'numbers'],
  ['messages', 'lengths', 'words'],
  ['messages', 'ops', 'words'],
  ['messages', 'firsts', 'words'],
  ['messages', 'kinds', 'bytes'],
  ['messages', 'times', 'numbers'],
  ['messages', 'bytes', 'words'],
  ['messages', 'shown', 'words'],
  ['sources', 'chains', 'bytes'],
  ['sources', 'parents', 'words'],
  ['sources', 'messages', 'words'],
  ['sources', 'entryEnds', 'words'],
  ['sources', 'entries', 'bytes'],
  ['lines', 'sources', 'words'],
  ['lines', 'ordinals', 'words'],
  ['lines', 'levels', 'bytes'],
  ['lines', 'offsets', 'numbers'],
  ['lines', 'lengths', 'words'],
  ['lines', 'ops', 'words'],
  ['lines', 'bytes', 'words'],
  ['lines', 'shown', 'words'],
  ['lines', 'marks', 'bytes'],
  ['captures', 'names', 'bytes'],
  ['captures', 'messages', 'words'],
  ['captures', 'bound', 'bytes'],
] as const satisfies readonly (readonly [keyof SavedState, string, Kind])[];

/** Whether this machine keeps numbers the way the file does: all that VS Code runs on do. */
const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** The bytes to be kept, as windows on the state's own memory where possible. None on a machine that cannot. */
export function encodeCheckpoint({ place, saved }: Checkpoint): readonly Uint8Array[] | undefined {
  if (!LITTLE_ENDIAN) return undefined;
  const columns = COLUMNS.map(([table, name]) => {
    const values = (saved[table] as unknown as Record<string, Uint8Array | Uint32Array | Float64Array>)[name];
    if (!values) throw new Error(`a state has no column ${table}.${name}`);
    return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  });
  const json = { version: VERSION, place, facts: factsOf(saved), columns: columns.map(c => c.length) };
  const facts = Buffer.from(JSON.stringify(json));
  const head = Buffer.alloc(8);
  head.writeDoubleLE(facts.length);
  return [head, ...[facts, ...columns].flatMap(part => [part, padding(part.length)])];
}

/**
 * A checkpoint as it was kept, its columns windows on `bytes`; undefined for anything else, of whatever origin.
 * Whether it belongs to a journal is for whoever reads that to say.
 */
export async function decodeCheckpoint(bytes: Uint8Array): Promise<Checkpoint | undefined> {
  // A window can only start at a multiple of its numbers' length.
  const aligned = bytes.byteOffset % ALIGN === 0 ? bytes : bytes.slice();
  if (!LITTLE_ENDIAN || aligned.length < 8) return undefined;
  const view = new DataView(aligned.buffer, aligned.byteOffset, aligned.byteLength);
  const length = view.getFloat64(0, true);
  if (!Number.isSafeInteger(length) || length < 0 || 8 + length > aligned.length) return undefined;
  const json = parsed(Buffer.from(aligned.buffer, aligned.byteOffset + 8, length).toString('utf8'));
  if (!isObject(json) || json['version'] !== VERSION) return undefined;
  const place = parsePlace(json['place']);
  const facts = parseFacts(json['facts']);
  const lengths = json['columns'];
  if (!place || !facts || !Array.isArray(lengths) || lengths.length !== COLUMNS.length) return undefined;
  const tables: Record<string, Record<string, unknown>> = {};
  const { buffer } = aligned as Uint8Array<ArrayBuffer>;
  let at = 8 + length + gap(length);
  for (const [i, [table, name, kind]] of COLUMNS.entries()) {
    const size: unknown = lengths[i];
    const width = KINDS[kind].BYTES_PER_ELEMENT;
    if (!Number.isSafeInteger(size) || (size as number) < 0 || (size as number) % width !== 0)
      return undefined;
    if (at + (size as number) > aligned.length) return undefined;
    const values = new KINDS[kind](buffer, aligned.byteOffset + at, (size as number) / width);
    (tables[table] ??= {})[name] = values;
    at += (size as number) + gap(size as number);
  }
  if (at !== aligned.length) return undefined;
  const saved = { ...tables, ...facts } as unknown as SavedState;
  return (await fitsItself(saved, place)) ? { place, saved } : undefined;
}

function parsePlace(value: unknown): JournalPlace | undefined {
  if (!isObject(value)) return undefined;
  const { byte, commits, hash } = value;
  if (!Number.isSafeInteger(byte) || !Number.isSafeInteger(commits) || typeof hash !== 'string')
    return undefined;
  return HASH.test(hash) ? { byte: byte as number, commits: commits as number, hash } : undefined;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function gap(length: number): number {
  return (ALIGN - (length % ALIGN)) % ALIGN;
}
function padding(length: number): Uint8Array {
  return new Uint8Array(gap(length));
}
