/** The most bytes a line's text should have (spec/archive.md 2.2). */
export const NODE_BYTES = 512;

/** How the line of one record comes to be, from the bytes of its raw text, prefix included. */
export function leafMethod(bytes: number): 'verbatim' | 'model' {
  return bytes <= NODE_BYTES ? 'verbatim' : 'model';
}

/** What a concat parent's text is. The line break is kept; only rendering turns it into a space. */
export function concatText(left: string, right: string): string {
  return `${left}\n${right}`;
}

/** The bytes of `concatText`, from those of both texts. */
export function concatBytes(left: number, right: number): number {
  return left + 1 + right;
}

/** How a parent's line comes to be, from the bytes of its children's texts. */
export function parentMethod(left: number, right: number): 'concat' | 'model' {
  return concatBytes(left, right) <= NODE_BYTES ? 'concat' : 'model';
}
