import { sourcesOf, type EntrySource } from './ancestry';
import type { Archive } from './archive';
import { ArchiveError } from './archiveError';
import { nextChain, sourceKey } from './canonical';
import type { SessionEntry } from './entry';
import { ROOT_CHAIN, type Chain, type SourceKey } from './ids';
import type { StoredMessage } from './message';
import { pathTo, type SessionFile } from './sessionFile';
import type { Source } from './source';

/** What an import found and did. */
export interface ImportResult {
  /** Messages in the file. */
  readonly messages: number;
  /** Those of them without visible content: nothing of them can be remembered. */
  readonly empty: number;
  /** Records that the file's branches have in the archive, each counted once. */
  readonly records: number;
  readonly branches: number;
  /** Lines that gave no entry. */
  readonly skipped: number;
  /** Sources that the archive did not have before. */
  readonly added: number;
}

/**
 * Binds every branch of a session file in an archive, the live one last. What the archive has already is not
 * written again, so importing twice adds nothing. Starts no model call. Rejects as `Archive.bind` does.
 */
export async function importSession(archive: Archive, file: SessionFile): Promise<ImportResult> {
  const { state } = archive;
  const before = state.sources;
  const chains = new ChainMemo();
  const tips = new Set<Chain>();
  const held = new Map<Chain, Source>();
  const live = file.nodes.at(-1);
  const leaves = [...file.leaves.filter(leaf => leaf !== live), ...file.leaves.filter(leaf => leaf === live)];
  for (const leaf of leaves) {
    const sources = sourcesOf(pathTo(leaf));
    const path = chains.along(sources);
    const news = path.findIndex(chain => !state.source(chain));
    if (news >= 0) {
      const after = path[news - 1] ?? ROOT_CHAIN;
      const reply = await archive.bind({ after, sources: sources.slice(news) });
      if (!reply.ok)
        throw new ArchiveError('archive', `The archive did not take the import: ${reply.reason}.`);
    }
    const tip = path.at(-1);
    if (tip) tips.add(tip);
    let at = tip && state.source(tip);
    while (at && !held.has(at.chain)) {
      held.set(at.chain, at);
      at = at.parent && state.source(at.parent);
    }
  }
  const inner = new Set([...held.values()].map(source => source.parent));
  const messages = file.nodes.filter(({ entry }) => isMessage(entry));
  return {
    messages: messages.length,
    empty: messages.filter(({ entry }) => sourcesOf([entry]).length === 0).length,
    records: [...held.values()].reduce((sum, source) => sum + source.count, 0),
    // A leaf that lies on another leaf's path is no branch of its own.
    branches: [...tips].filter(tip => !inner.has(tip)).length,
    skipped: file.skipped,
    added: state.sources - before,
  };
}

function isMessage(entry: SessionEntry): boolean {
  return (
    entry.type === 'custom_message' ||
    entry.type === 'branch_summary' ||
    (entry.type === 'message' && entry.message !== undefined)
  );
}

/** Chains along many branches of one file: each message is hashed once. */
class ChainMemo {
  readonly #keys = new WeakMap<StoredMessage, SourceKey>();

  along(sources: readonly EntrySource[]): Chain[] {
    let chain = ROOT_CHAIN;
    return sources.map(({ message }) => {
      let key = this.#keys.get(message);
      if (!key) this.#keys.set(message, (key = sourceKey(message)));
      return (chain = nextChain(chain, key));
    });
  }
}
