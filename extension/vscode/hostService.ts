import * as vscode from 'vscode';
import type { Log } from '../archive/ports';
import { programFiles } from '../storage/programFiles';
import type { MemoryActivity } from './statusModel';
import { startHost, type Host, type ServedSession } from './serve';
import { readSettings } from './settings';

/**
 * Keeps this window's host running: from the start in a trusted window, from the moment trust is granted in another,
 * anew when folders or the archive root change. An untrusted window serves nothing.
 */
export class HostService implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  /** Sessions came, went or changed, or serving failed or began to work again. */
  readonly onDidChange = this.#changed.event;
  readonly #subscriptions: vscode.Disposable[] = [this.#changed];
  #host: Host | undefined;
  #failure: string | undefined;
  #served = '';
  #turn: Promise<void> = Promise.resolve();
  #disposed = false;

  constructor(private readonly log: Log) {
    this.#subscriptions.push(
      vscode.workspace.onDidGrantWorkspaceTrust(() => void this.restart()),
      vscode.workspace.onDidChangeWorkspaceFolders(() => void this.restart()),
      vscode.workspace.onDidChangeConfiguration(e => {
        if (e.affectsConfiguration('strata')) void this.restart();
      }),
    );
  }

  get sessions(): readonly ServedSession[] {
    return this.#host?.sessions() ?? [];
  }
  /** Why nothing is served although something should be. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Serves what the window's state asks for now. Never rejects; calls take their turn. */
  restart(force = false): Promise<void> {
    this.#turn = this.#turn.then(() => this.#settle(force));
    return this.#turn;
  }

  /** Ends the link and closes the archives. */
  async stop(): Promise<void> {
    this.dispose();
    await this.#turn;
    await this.#host?.dispose();
    this.#host = undefined;
  }

  dispose(): void {
    this.#disposed = true;
    for (const s of this.#subscriptions) s.dispose();
  }

  async #settle(force: boolean): Promise<void> {
    if (this.#disposed) return;
    const folders = vscode.workspace.isTrusted ? await servedFolders() : [];
    const { archiveRoot: root, memoryEnabled: memoryDefault } = readSettings();
    const served = folders.length === 0 ? '' : JSON.stringify([root, memoryDefault, ...folders]);
    if (served === this.#served && !force) return;
    try {
      await this.#host?.dispose();
      this.#host = undefined;
      this.#failure = undefined;
      this.#served = served;
      if (served) {
        this.#host = await startHost({ root, folders, memoryDefault, log: this.log });
        this.#host.onChange(() => this.#changed.fire());
        this.log.info(`serving ${folders.length} folder(s)`);
      }
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error);
      this.log.error(`the host could not be started: ${this.#failure}`);
    }
    this.#changed.fire();
  }
}

/** Real paths of the window's folders on this machine's disk: Pi's cwd is a real path, a folder's may be a link. */
export async function servedFolders(): Promise<readonly string[]> {
  const local = (vscode.workspace.workspaceFolders ?? []).filter(f => f.uri.scheme === 'file');
  return Promise.all(local.map(f => programFiles.realPath(f.uri.fsPath)));
}

/** What the status bar says of a served session. */
export function activityOf({ archive, phase }: ServedSession): MemoryActivity {
  if (archive.readOnly !== undefined) return { state: 'stopped', reason: archive.readOnly };
  switch (phase.state) {
    case 'failed':
      return { state: 'stopped', reason: phase.message };
    case 'preparing':
      return { state: 'preparing', ...phase.progress };
    case 'idle': {
      if (!archive.memory) return { state: 'off' };
      const viewBytes = archive.state.turns.at(-1)?.receipt.bytes ?? 0;
      return { state: 'ready', records: archive.branch().records, viewBytes };
    }
  }
}
