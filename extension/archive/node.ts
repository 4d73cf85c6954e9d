import { utf8Bytes } from './text';

/** The most bytes a line's text should have (spec/archive.md 2.2). */
export const NODE_BYTES = 512;

/** How the line of one record comes to be, from its raw text, prefix included. */
export function leafMethod(raw: string): 'verbatim' | 'model' {
  return utf8Bytes(raw) <= NODE_BYTES ? 'verbatim' : 'model';
}

/** What a concat parent stores. The line break is kept; only rendering turns it into a space. */
export function concatText(left: string, right: string): string {
  return `${left}\n${right}`;
}

/** How a parent's line comes to be, from the stored texts of its children, older first. */
export function parentMethod(left: string, right: string): 'concat' | 'model' {
  return utf8Bytes(left) + 1 + utf8Bytes(right) <= NODE_BYTES ? 'concat' : 'model';
}
