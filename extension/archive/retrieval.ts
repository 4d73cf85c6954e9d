import type { Chain } from './ids';
import type { RecordKind } from './record';

export interface SearchRequest {
  readonly query: string;
  readonly from: number;
  readonly chain?: Chain;
}
/** One record: a page of its original. */
export interface RecordAnswer {
  readonly branch: Chain;
  readonly address: string;
  readonly kind: RecordKind;
  /** The source that holds it, and the record's place in it. */
  readonly sourceEntry: string;
  readonly piEntryId: string;
  /** ISO. */
  readonly timestamp: string;
  readonly text: string;
  readonly bytes: number;
  readonly next: number | null;
}
/** Several records: the lines of both halves. */
export interface ChildrenAnswer {
  readonly branch: Chain;
  readonly address: string;
  readonly children: readonly { readonly address: string; readonly text: string }[];
}
export type ZoomAnswer = RecordAnswer | ChildrenAnswer;
export interface DateAnswer {
  readonly branch: Chain;
  readonly address: string;
  readonly timestamp: string;
}
export interface SearchAnswer {
  readonly branch: Chain;
  readonly matches: readonly {
    readonly address: string;
    readonly sourceEntry: string;
    readonly piEntryId: string;
    readonly snippet: string;
  }[];
  readonly next: number | null;
  readonly scanned: number;
  readonly total: number;
}
