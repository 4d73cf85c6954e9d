import type { Address } from './address';
import type { Branch } from './branch';
import { ArchiveFollower } from './follower';
import type { NodeOp } from './ops';
import type { JournalSource, Log } from './ports';
import type { ArchiveState } from './state';

/** Lines that are published in one commit. */
const BATCH = 64;

export interface BorrowTools {
  /** The borrower's own archive. */
  readonly state: ArchiveState;
  /** Writes the nodes in one commit; resolves when they are on stable storage and in the branch. */
  readonly publish: (nodes: readonly NodeOp[]) => Promise<void>;
  readonly cancel: AbortSignal;
}

/** The archives that a session's lines may be taken from. Looked at once: what is said since is nobody else's. */
export class Lenders {
  #done = false;

  constructor(
    private readonly related: () => Promise<readonly JournalSource[]>,
    private readonly log: Log,
  ) {}

  /** Takes what there is for the branch. Never rejects: what cannot be taken is written anew. */
  async lend(branch: Branch, tools: BorrowTools): Promise<void> {
    if (this.#done) return;
    try {
      for (const journal of await this.related()) {
        const lender = new ArchiveFollower(journal);
        await lender.refresh();
        if (lender.failure === undefined) await borrowLines(branch, lender.state, tools);
      }
      this.#done = !tools.cancel.aborted;
    } catch (error) {
      this.#done = true;
      this.log.warn(`Lines of the session that this one began as could not be taken: ${String(error)}`);
    }
  }
}

/**
 * Publishes here what models wrote for a beginning that another archive shares: a fork in a file of its own, or a copied
 * file, pays nothing for it again (spec/archive.md 6, design.md section 4). A node is named by where it ends, so the
 * same lines stand at the same addresses; who wrote them stays said. Gives how many lines were taken.
 */
export async function borrowLines(branch: Branch, lender: ArchiveState, tools: BorrowTools): Promise<number> {
  const shared = await sharedBranch(branch, lender, tools.state);
  if (!shared) return 0;
  let taken = 0;
  /** Lines that the lender lacks. */
  const absent = new Set<string>();
  while (!tools.cancel.aborted) {
    const nodes: NodeOp[] = [];
    for (const a of wanted(branch, shared, absent)) {
      const line = await shared.modelLine(a);
      if (!line) throw new Error('a line that a model wrote has no text');
      nodes.push({ op: 'node', end: branch.endOf(a), count: a.count, ...line });
    }
    if (nodes.length === 0) break;
    await tools.publish(nodes);
    taken += nodes.length;
  }
  return taken;
}

/** The longest beginning of the branch that the other archive knows. */
async function sharedBranch(
  branch: Branch,
  lender: ArchiveState,
  state: ArchiveState,
): Promise<Branch | undefined> {
  let source = branch.tip;
  while (source && !lender.source(source.chain)) source = source.parent && state.source(source.parent);
  if (!source) return undefined;
  await lender.ready(source.chain);
  return lender.branch(source.chain);
}

/** What can be published next, and stands in the other archive: leaves in order, parents of what is built. */
function wanted(branch: Branch, shared: Branch, absent: Set<string>): Address[] {
  const found: Address[] = [];
  for (const start of branch.longFrom(branch.processed, BATCH)) {
    const leaf = { start, count: 1 };
    if (shared.line(leaf)?.method !== 'model') break;
    found.push(leaf);
  }
  for (const a of branch.waiting()) {
    if (found.length >= BATCH) break;
    const name = `${a.start}+${a.count}`;
    if (absent.has(name)) continue;
    if (shared.line(a)?.method === 'model') found.push(a);
    else absent.add(name);
  }
  return found;
}
