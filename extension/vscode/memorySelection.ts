import type * as vscode from 'vscode';
import type { ArchiveId } from '../archive/ids';
import type { ServedSession } from './serve';
import { isUnread, shortTitleOf, type SessionFacts } from './sessionRows';
import type { SessionCatalogue } from './sessionCatalogue';
import type { MemorySubject } from './trees/memoryTree';

const CHOSEN_KEY = 'strata.memoryOf';

/**
 * Which session the Memory view shows: one that has just begun to run here, else the chosen one, else the latest.
 * Remembers the choice by id.
 */
export class MemorySelection {
  readonly #seen = new Set<string>();
  #chosen: string | undefined;

  constructor(
    private readonly memento: vscode.Memento,
    private readonly catalogue: SessionCatalogue,
    private readonly served: () => readonly ServedSession[],
  ) {
    const stored = memento.get<unknown>(CHOSEN_KEY);
    this.#chosen = typeof stored === 'string' ? stored : undefined;
  }

  /** The person wants to see this one. */
  async choose(id: ArchiveId): Promise<void> {
    this.#chosen = id;
    await this.memento.update(CHOSEN_KEY, id);
  }

  /** What to show now; undefined when there is no session with a memory. */
  subject(): MemorySubject | undefined {
    const served = this.served();
    const fresh = served.filter(session => !this.#seen.has(session.id));
    this.#seen.clear();
    for (const session of served) this.#seen.add(session.id);
    const begun = fresh.at(-1);
    if (begun) this.#chosen = begun.id;
    const sessions = this.catalogue.sessions;
    const facts =
      sessions.find(session => session.id === this.#chosen) ??
      sessions.find(session => session.id !== undefined && session.journalBytes !== undefined);
    return facts && this.#subjectOf(facts, served);
  }

  #subjectOf(facts: SessionFacts, served: readonly ServedSession[]): MemorySubject | undefined {
    if (facts.id === undefined) return undefined;
    const live = served.find(session => session.id === facts.id);
    return {
      archive: facts.id,
      title: shortTitleOf(facts),
      preparing: live?.phase.state === 'preparing',
      unread: isUnread(facts),
    };
  }
}
