import { formatAddress, type Address } from './address';
import type { Method, NodeOrigin } from './ops';

/** What a model wrote for a node, as the journal has it. */
export interface ModelLine {
  readonly text: string;
  readonly oversized: boolean;
  readonly clipped: boolean;
  readonly by: NodeOrigin;
}

/** What is kept in memory of a built line of the tree. Its text is read when it is asked for. */
export interface Line {
  readonly method: Method;
  /** Bytes of the text. */
  readonly textBytes: number;
  /** Bytes of the text on one line, as views and compactors are shown it. */
  readonly shownBytes: number;
  /** Bytes of the line as a view renders it, address included, without a line break. */
  readonly bytes: number;
  /** Marks of a model's line; false for others. */
  readonly oversized: boolean;
  readonly clipped: boolean;
}

/** Bytes of a line as a view renders it, from those of its text on one line. */
export function renderedBytes(a: Address, shownBytes: number): number {
  return formatAddress(a).length + 1 + shownBytes;
}

/** Bytes on one line of two texts, one after the other, from what each takes on one line. */
export function joinedShown(left: number, right: number): number {
  return left > 0 && right > 0 ? left + 1 + right : left + right;
}
