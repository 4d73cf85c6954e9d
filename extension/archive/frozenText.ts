import type { Address } from './address';
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

/** Texts read from the journal at once. */
const READS = 32;

/** The lines of a partition. Rejects when one is not built, which a frozen partition rules out. */
export function viewLines(branch: Branch, parts: Iterable<Address>): Promise<string[]> {
  return inOrder([...parts], async a => lineOf(a, await branch.lineText(a)));
}

/** What the model gets for these lines: nothing at all while nothing is remembered (design.md section 5). */
export function frozenText(lines: readonly string[]): Pick<FrozenText, 'text' | 'blocks'> {
  return lines.length === 0 ? { text: '', blocks: [] } : { text: renderView(lines), blocks: blocksOf(lines) };
}

/**
 * Rebuilds the text of a receipt from the partition it names and the immutable lines, and checks it against the
 * receipt's hash. A line that is missing, or that the journal no longer gives, shows as such, and then the text is not
 * verified.
 */
export async function rebuildView(state: ArchiveState, receipt: ReceiptOp): Promise<FrozenText> {
  await state.ready(receipt.chain);
  const branch = state.branch(receipt.chain);
  const parts = partsOfRuns(receipt.parts);
  const lines = await inOrder(parts, async a => lineOf(a, await textOr(branch, a)));
  const rebuilt = frozenText(lines);
  return { ...rebuilt, parts, verified: sha256Hex(rebuilt.text) === receipt.sha256 };
}

async function textOr(branch: Branch | undefined, a: Address): Promise<string> {
  if (!branch?.line(a)) return '[this line is missing from the archive]';
  return branch.lineText(a).catch(() => '[this line cannot be read from the archive]');
}

/** Maps a list, some items at once. */
async function inOrder<A, B>(list: readonly A[], map: (item: A) => Promise<B>): Promise<B[]> {
  const out: B[] = [];
  for (let i = 0; i < list.length; i += READS)
    out.push(...(await Promise.all(list.slice(i, i + READS).map(map))));
  return out;
}
