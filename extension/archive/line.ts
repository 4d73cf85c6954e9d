import type { Address } from './address';
import { utf8Bytes } from './text';
import { lineOf } from './view';
import type { Method, NodeOrigin } from './ops';

/** What a model wrote for a node, as the journal has it. */
export interface ModelLine {
  readonly text: string;
  readonly oversized: boolean;
  readonly clipped: boolean;
  readonly by: NodeOrigin;
}

/** A built line of the tree. */
export interface Line {
  readonly text: string;
  readonly method: Method;
  /** Bytes of the line as a view renders it, address included, without a line break. */
  readonly bytes: number;
  /** Present for lines that a model wrote. */
  readonly model?: ModelLine;
}

/** A line with its text a function of the records. */
export function impliedLine(a: Address, method: 'verbatim' | 'concat', text: string): Line {
  return { text, method, bytes: utf8Bytes(lineOf(a, text)) };
}

export function modelLine(a: Address, model: ModelLine): Line {
  return { text: model.text, method: 'model', bytes: utf8Bytes(lineOf(a, model.text)), model };
}
