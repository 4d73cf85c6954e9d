/** The five kinds of spec/archive.md 1.1. */
export const RECORD_KINDS = ['user', 'talk', 'tool', 'echo', 'note'] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

/** The smallest remembered unit. Its index is its position on a branch, so it is not part of it. */
export interface MemoryRecord {
  readonly kind: RecordKind;
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly timestamp: number;
}

/** What every byte count, search, zoom page and leaf uses: the text with its kind before it. */
export function rawText(record: MemoryRecord): string {
  return `${record.kind}: ${record.text}`;
}
