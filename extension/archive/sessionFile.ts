import { parseEntry, type SessionEntry } from './entry';
import type { EntryId, SessionId } from './ids';
import { isObject } from './json';
import { recoverFused } from './fusedLine';
import { parseTime } from './parseMessage';

/** The first line of a session file. */
export interface SessionHeader {
  readonly id: SessionId;
  /** 1 where none is given. */
  readonly version: number;
  /** As written: it may be a folder of another machine. */
  readonly cwd: string;
  /** Milliseconds since 1970; 0 when it does not say. */
  readonly timestamp: number;
  /** Path of the file this one was forked from. */
  readonly parentSession?: string;
}
/** An entry at its place in the file's tree. */
export interface SessionNode {
  readonly entry: SessionEntry;
  /** Absent at a root: of the session, or of what is cut off from it. */
  readonly parent: SessionNode | undefined;
  /** 1 for the file's first line. */
  readonly line: number;
}
/** Something in the file that is not as Pi writes it. */
export interface SessionProblem {
  readonly line: number;
  readonly kind:
    | 'unreadable'
    /** The last line was never finished. */
    | 'torn'
    /** A line that was never finished, and a whole entry behind it on the same line: that entry is kept. */
    | 'fused'
    /** The entry before this one is not in the file: what follows is kept as a branch of its own. */
    | 'cut'
    /** A message of a role that this version does not know. */
    | 'unknown-message'
    /** Written by a later Pi than this version knows. */
    | 'newer-format';
  /** A sentence for people, without the line's own text. */
  readonly text: string;
}
export interface SessionFile {
  readonly header: SessionHeader;
  /** In the order of the file. */
  readonly nodes: readonly SessionNode[];
  /** The last entry of each branch, in the order of the file. The file's last entry is the live one. */
  readonly leaves: readonly SessionNode[];
  /** Lines, or beginnings of lines, that gave no entry. */
  readonly skipped: number;
  readonly problems: readonly SessionProblem[];
}

const NEWEST_FORMAT = 3;
const UNREADABLE = 'This line holds no entry that can be read.';
/** Roles that are never remembered, or that the parser knows; anything else deserves a word. */
const KNOWN_ROLES = new Set([
  'user',
  'assistant',
  'toolResult',
  'bashExecution',
  'custom',
  'hookMessage',
  'branchSummary',
  'compactionSummary',
  'system',
]);

/** The lines of a file's bytes, split at line feeds alone: JSON may hold every other separator. */
export function* linesOf(bytes: Buffer): Iterable<string> {
  for (let start = 0; start < bytes.length;) {
    const lf = bytes.indexOf(0x0a, start);
    const end = lf < 0 ? bytes.length : lf;
    yield bytes.toString('utf8', start, end);
    start = end + 1;
  }
}

/**
 * Reads a Pi session file of format 1, 2 or 3 from its lines; undefined when it is none, because its first line is
 * no session header. Whatever else is wrong costs only what cannot be read, and `problems` says so: nothing is lost
 * without a word. Format 1 has no entry ids, so the number of the line stands for one. Never throws.
 */
export function parseSessionFile(lines: Iterable<string>): SessionFile | undefined {
  let reader: SessionReader | undefined;
  let line = 0;
  for (const text of lines) {
    line++;
    if (text.trim() === '') continue;
    if (reader) reader.take(text, line);
    else {
      const header = parseHeader(parseJson(text));
      if (!header) return undefined;
      reader = new SessionReader(header);
    }
  }
  return reader?.file();
}

/** The entries from the root to this node. */
export function pathTo(node: SessionNode): SessionEntry[] {
  const path: SessionEntry[] = [];
  for (let at: SessionNode | undefined = node; at; at = at.parent) path.push(at.entry);
  return path.reverse();
}

class SessionReader {
  readonly #nodes: SessionNode[] = [];
  readonly #problems: SessionProblem[] = [];
  /** The newest entry of each id so far. Only earlier lines can be parents, so there are no loops. */
  readonly #byId = new Map<EntryId, SessionNode>();
  readonly #parents = new Set<SessionNode>();
  /** A line that gave nothing: torn if it stays the last, else unreadable. */
  #pending: number | undefined;
  #skipped = 0;

  constructor(private readonly header: SessionHeader) {
    if (header.version > NEWEST_FORMAT)
      this.#problem(
        1,
        'newer-format',
        `The file has format ${header.version}; this version knows 1 to ${NEWEST_FORMAT}.`,
      );
  }

  take(text: string, line: number): void {
    this.#settlePending();
    const value = parseJson(text);
    const entry = this.#entryOf(value, line);
    if (entry) return this.#add(entry, value, line);
    const found = value === undefined ? recoverFused(text, tail => this.#entryOf(tail, line)) : undefined;
    if (found) {
      this.#skipped++;
      this.#problem(
        line,
        'fused',
        'Two entries stand on this line; the first was never finished and is lost.',
      );
      return this.#add(found.entry, found.value, line);
    }
    this.#skipped++;
    if (value === undefined) this.#pending = line;
    else this.#problem(line, 'unreadable', UNREADABLE);
  }

  file(): SessionFile {
    if (this.#pending !== undefined)
      this.#problem(this.#pending, 'torn', 'The last line was never finished, so it holds no entry.');
    const leaves = this.#nodes.filter(node => !this.#parents.has(node));
    const { header } = this;
    return { header, nodes: this.#nodes, leaves, skipped: this.#skipped, problems: this.#problems };
  }

  #entryOf(value: unknown, line: number): SessionEntry | undefined {
    const previous = this.#nodes.at(-1)?.entry.id ?? null;
    const unnamed = { id: `line-${line}` as EntryId, parentId: previous };
    return this.header.version < 2 ? parseEntry(value, unnamed) : parseEntry(value);
  }

  #add(entry: SessionEntry, value: unknown, line: number): void {
    const parent = entry.parentId === null ? undefined : this.#byId.get(entry.parentId);
    if (entry.parentId !== null && !parent)
      this.#problem(
        line,
        'cut',
        `The entry before this one (${JSON.stringify(entry.parentId)}) is not in the file: from here on it is a branch of its own.`,
      );
    if (entry.type === 'message' && !(isObject(value) && isObject(value['message'])))
      this.#problem(line, 'unreadable', 'An entry of a message without the message.');
    else if (entry.type === 'message' && !KNOWN_ROLES.has(entry.role))
      this.#problem(line, 'unknown-message', `A message of the unknown role ${JSON.stringify(entry.role)}.`);
    const node: SessionNode = { entry, parent, line };
    if (parent) this.#parents.add(parent);
    this.#nodes.push(node);
    this.#byId.set(entry.id, node);
  }

  #settlePending(): void {
    if (this.#pending !== undefined) this.#problem(this.#pending, 'unreadable', UNREADABLE);
    this.#pending = undefined;
  }

  #problem(line: number, kind: SessionProblem['kind'], text: string): void {
    this.#problems.push({ line, kind, text });
  }
}

function parseHeader(value: unknown): SessionHeader | undefined {
  if (!isObject(value) || value['type'] !== 'session') return undefined;
  const { id, version, cwd, timestamp, parentSession, branchedFrom } = value;
  if (typeof id !== 'string' || id === '') return undefined;
  const parent = parentSession ?? branchedFrom;
  return {
    id: id as SessionId,
    version: typeof version === 'number' && Number.isSafeInteger(version) && version > 0 ? version : 1,
    cwd: typeof cwd === 'string' ? cwd : '',
    timestamp: parseTime(timestamp),
    ...(typeof parent === 'string' && parent !== '' && { parentSession: parent }),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
