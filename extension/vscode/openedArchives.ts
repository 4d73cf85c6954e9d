import type * as vscode from 'vscode';
import type { ArchiveId } from '../archive/ids';

const KEY = 'strata.openedArchives';
const MOST = 50;

/** Archives that *Open Session File…* made in this workspace, by id: their sessions may have run anywhere. */
export class OpenedArchives {
  constructor(private readonly memento: vscode.Memento) {}

  /** Newest first. */
  ids(): readonly string[] {
    const stored = this.memento.get<unknown>(KEY);
    return Array.isArray(stored) ? stored.filter(id => typeof id === 'string') : [];
  }

  async add(id: ArchiveId): Promise<void> {
    await this.memento.update(KEY, [id, ...this.ids().filter(other => other !== id)].slice(0, MOST));
  }
}
