import type { TokenUsage } from './ops';

/** A commit's place in a journal file, in bytes of the whole line. */
export interface FrameRef {
  readonly offset: number;
  readonly length: number;
}
/** The same with the CRC-32 of the JSON's bytes, as the line itself says it. */
export interface JournalLine extends FrameRef {
  readonly crc: number;
}
/** A line whose length and checksum were right; `json` is not validated yet, and only made when it is asked for. */
export interface Frame extends JournalLine {
  readonly json: string;
}

/** Where an owner keeps what it would otherwise work out again from a journal. It may be gone or wrong at any time. */
export interface CheckpointSource {
  /**
   * The byte of the journal up to which something is kept, so that the lines before it can be looked at while it is
   * read; undefined when nothing is. Only a hint: `read` may still find nothing, or something else. Never throws.
   */
  covers(): Promise<number | undefined>;
  /** What was kept last for this journal; undefined when there is nothing, or it is not whole. Never throws. */
  read(): Promise<Uint8Array | undefined>;
}
export interface CheckpointStore extends CheckpointSource {
  /** Keeps these bytes in place of what was kept before; they cover the journal up to that byte. Rejects with the system's error. */
  write(parts: readonly Uint8Array[], covers: number): Promise<void>;
}

/** What a journal found at its end when it was opened or read. */
export type JournalTail =
  | { readonly state: 'clean' }
  /** An incomplete last line. The owner cuts it after copying it to `kept`; a reader only reports it. */
  | { readonly state: 'torn'; readonly bytes: number; readonly kept?: string }
  /** A bad line with good ones after it, or a wrong sequence: never cut, never written past. */
  | { readonly state: 'damaged'; readonly offset: number; readonly reason: string };

/** The ground truth on disk, opened for writing by the one process that holds the archive's lock. */
export interface Journal {
  /**
   * Every good line from the start, in order, some at a time. To be read to its end before the first append: the first
   * reading is also what checks the file and puts a torn end aside, so that a long journal is read once. Frames are
   * good until the next ones are asked for. Rejects with a `JournalError` when that fails.
   */
  frames(): AsyncIterable<readonly Frame[]>;
  /** Absent where nothing can be kept. */
  readonly checkpoint?: CheckpointStore;
  /**
   * Resolves when the line is on stable storage (fsync). Rejects with nothing half-written, and then every line that
   * waits behind it is rejected too: lines count on those before them. See `JournalError`.
   */
  append(json: string): Promise<JournalLine>;
  /** True after a failure that leaves open what reached the disk: no line is taken before `reopen`. */
  readonly unknown: boolean;
  /**
   * Opens the file again, checks every acknowledged line and removes what was never acknowledged. Resolves when lines
   * are taken again; rejects, with nothing changed, while that cannot be made sure of.
   */
  reopen(): Promise<void>;
  /** The JSON of a line written or read earlier. */
  read(ref: FrameRef): Promise<string>;
  /** Known once the frames have been read to their end. */
  readonly tail: JournalTail;
  close(): Promise<void>;
}

export interface JournalPiece {
  readonly frames: readonly Frame[];
  readonly next: number;
  readonly more: boolean;
  readonly tail: JournalTail;
}

/** A journal that somebody else may own: no lock, no write, follows a growing file. */
export interface JournalSource {
  /**
   * Good lines from byte `from` on, about a megabyte of them. `next` is where to go on: at once while there is `more`,
   * else when the file has grown. How the journal ends is only known when there is no more.
   */
  read(from: number): Promise<JournalPiece>;
  /** What the owner keeps of this journal, if anything. */
  readonly checkpoint?: CheckpointSource;
  /** The JSON of one line. */
  frame(ref: FrameRef): Promise<string>;
}

/** The journal that is an archive's now. */
export interface FoundJournal {
  /** Which of the archive's journals it is: another number, another journal. */
  readonly generation: number;
  readonly source: JournalSource;
}

/** What is known of a blob. Reasons are parts of a sentence. */
export type BlobRead =
  | { readonly state: 'whole'; readonly bytes: Uint8Array }
  | { readonly state: 'missing' }
  /** Its bytes are not those it is named by, or cannot be read. */
  | { readonly state: 'damaged'; readonly reason: string };

/** The binary parts of originals, named by the sha256 of their bytes (64 hex digits). */
export interface BlobSource {
  /** Checks every byte. Never throws for what it finds. */
  read(sha256: string): Promise<BlobRead>;
}

/** The same, for the owner of an archive. */
export interface Blobs extends BlobSource {
  /**
   * Resolves with the name once these bytes are on stable storage; bytes that are there already are not written
   * again. Rejects with the system's error, and then no reader sees a part of them.
   */
  put(bytes: Uint8Array): Promise<string>;
}

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
}

export interface SummaryRequest {
  readonly system: string;
  /** The text blocks of the first user message: stable blocks first, the task last (spec/archive.md 3.3). */
  readonly blocks: readonly string[];
  /** Earlier replies and what was wrong with them, oldest first: the same conversation goes on. */
  readonly retries: readonly { readonly reply: string; readonly feedback: string }[];
  readonly maxOutputTokens: number;
  readonly timeoutMs: number;
}
export type SummaryReply =
  | { readonly ok: true; readonly text: string; readonly model: string; readonly usage: TokenUsage }
  /** Nothing came back: provider error, time-out, no credentials, link gone. */
  | { readonly ok: false; readonly reason: string };

/** Turns a target into one line by a model call. Never throws for a provider's failure. */
export interface Compactor {
  summarize(request: SummaryRequest, signal: AbortSignal): Promise<SummaryReply>;
}

export interface Log {
  info(text: string): void;
  warn(text: string): void;
  error(text: string): void;
}
