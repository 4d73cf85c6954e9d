import { formatAddress, type Address } from './address';
import type { Branch } from './branch';
import { sha256Hex } from './canonical';
import type { ReceiptOp } from './ops';
import { partsOfRuns } from './partition';
import type { ArchiveState } from './state';
import { blocksOf, lineOf, renderView } from './view';

/** A turn's view, rebuilt. */
export interface FrozenText {
  readonly text: string;
  /** The text as it was sent; joined they are the text. None when nothing was remembered. */
  readonly blocks: readonly string[];
  readonly parts: readonly Address[];
  /** Whether the text is, byte for byte, the one the receipt was made for. */
  readonly verified: boolean;
}

/** The lines of a partition. Throws when one is not built, which a frozen partition rules out. */
export function viewLines(branch: Branch, parts: Iterable<Address>): string[] {
  const lines: string[] = [];
  for (const a of parts) {
    const line = branch.line(a);
    if (!line) throw new Error(`line ${formatAddress(a)} is not built`);
    lines.push(lineOf(a, line.text));
  }
  return lines;
}

/** What the model gets for these lines: nothing at all while nothing is remembered (design.md section 5). */
export function frozenText(lines: readonly string[]): Pick<FrozenText, 'text' | 'blocks'> {
  return lines.length === 0 ? { text: '', blocks: [] } : { text: renderView(lines), blocks: blocksOf(lines) };
}

/**
 * Rebuilds the text of a receipt from the partition it names and the immutable lines, and checks it against the
 * receipt's hash. A line that is missing shows as such, and then the text is not verified.
 */
export function rebuildView(state: ArchiveState, receipt: ReceiptOp): FrozenText {
  const branch = state.branch(receipt.chain);
  const parts = partsOfRuns(receipt.parts);
  const lines = parts.map(a => lineOf(a, branch?.line(a)?.text ?? '[this line is missing from the archive]'));
  const rebuilt = frozenText(lines);
  return { ...rebuilt, parts, verified: sha256Hex(rebuilt.text) === receipt.sha256 };
}
