import { ROOT_CHAIN, type Chain } from '../archive/ids';
import type { BindReply, BindRequest } from '../archive/requests';
import { LinkError } from '../link/protocol';
import { Ancestry } from './ancestry';
import { Captures } from './capture';
import type { WholeSession } from './wholeSession';

/** How long a wait may last, and what ends it sooner. */
export interface Patience {
  readonly ms: number;
  /** Absent where Pi has none: between runs, and in `before_agent_start`. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Far below the link's bound for a message: a long session made elsewhere is adopted in pieces, each of which keeps
 * neither side from anything else for long.
 */
const BATCH_BYTES = 256 * 1024;

export interface Reconciliation {
  readonly ancestry: Ancestry;
  readonly captures: Captures;
  /** One call to the owner, with the caller's time limit and signal. */
  readonly bind: (request: BindRequest) => Promise<BindReply>;
  /** Hears, after each piece, how many entries of the branch the owner has and how many there are. */
  readonly progress?: (done: number, total: number) => void;
}

/**
 * Makes the owner hold every source of the selected branch, or those before the entry `until`. What it holds already
 * is not sent again; messages it acknowledged before go by reference. Rejects with what the link says, and with an
 * `archive` error when both sides disagree about a chain, which would mean that they run different versions.
 */
export async function reconcile(parts: Reconciliation, until?: string): Promise<void> {
  const { ancestry, captures, bind } = parts;
  if (ancestry.ownerIsUnknown) ancestry.ownerHolds(await newestKnown(ancestry.chains(), bind));
  // An owner that has changed or an entry that was lost costs one more round each; more means that nothing helps.
  for (let setbacks = 0; ;) {
    const batch = ancestry.nextBatch(BATCH_BYTES, until);
    if (!batch) return;
    const reply = await bind({ after: batch.after, sources: batch.sources.map(one => captures.toBind(one)) });
    if (reply.ok) {
      if (reply.chain !== batch.chain)
        throw new LinkError(
          'archive',
          'Pi and the archive read this conversation differently. Install the Pi extension again, then restart Pi.',
        );
      captures.bound(batch.sources);
      ancestry.wasBound(batch);
      const { left, total } = ancestry.extent;
      parts.progress?.(total - left, total);
      continue;
    }
    if (++setbacks > batch.sources.length + 2)
      throw new LinkError('archive', 'The archive does not take this conversation, whatever is sent.');
    if (reply.reason === 'unknown-capture') captures.lost(reply.entry);
    else ancestry.ownerHolds(await newestKnown(ancestry.chains(), bind));
  }
}

/**
 * Makes the owner hold the branches that a damaged line cut off from the selected one, which Pi itself no longer
 * shows; `kept` remembers those it holds. Rejects as `reconcile` does.
 */
export async function keepCutOff(
  parts: Omit<Reconciliation, 'captures'> & { readonly kept: Set<string> },
  session: WholeSession,
): Promise<void> {
  for (;;) {
    // Reading one may meet a gap further back.
    const leaf = session.cutOff.find(id => !parts.kept.has(id));
    if (leaf === undefined) return;
    const branch = new Ancestry({ getLeafId: () => leaf, getEntry: id => session.getEntry(id) });
    await branch.readInPieces();
    branch.ownerIsUnknown = true;
    await reconcile({ ...parts, ancestry: branch, captures: new Captures() });
    parts.kept.add(leaf);
    // What the owner took last is its present branch: the selected one comes after.
    parts.ancestry.ownerIsUnknown = true;
  }
}

/** The newest chain the owner knows, found by offering chains without sources: it knows every prefix of what it knows. */
async function newestKnown(chains: readonly Chain[], bind: Reconciliation['bind']): Promise<Chain> {
  let known = 0;
  let unknown = chains.length + 1;
  while (unknown - known > 1) {
    const middle = Math.floor((known + unknown) / 2);
    const after = chains[middle - 1] ?? ROOT_CHAIN;
    const reply = await bind({ after, sources: [] });
    if (reply.ok) known = middle;
    else unknown = middle;
  }
  return chains[known - 1] ?? ROOT_CHAIN;
}
