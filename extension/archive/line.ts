import type { Address } from './address';
import { oneLine, utf8Bytes } from './text';
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
  /** The text on one line, as views and compactors are shown it. */
  readonly shown: string;
  /** Bytes of the line as a view renders it, address included, without a line break. */
  readonly bytes: number;
  /** Present for lines that a model wrote. */
  readonly model?: ModelLine;
}

/** A line with its text a function of the records. */
export function impliedLine(a: Address, method: 'verbatim' | 'concat', text: string): Line {
  return { text, method, ...shownAt(a, text) };
}

export function modelLine(a: Address, model: ModelLine): Line {
  return { text: model.text, method: 'model', ...shownAt(a, model.text), model };
}

function shownAt(a: Address, text: string): Pick<Line, 'shown' | 'bytes'> {
  const line = oneLine(text);
  // Most texts are one line already: then they are kept once.
  return { shown: line === text ? text : line, bytes: utf8Bytes(lineOf(a, line)) };
}
