import * as vscode from 'vscode';
import type { Log } from '../archive/ports';
import { programFiles } from '../storage/programFiles';
import { startHost, type Host, type ServedSession } from './serve';
import { readSettings } from './settings';

/**
 * Keeps this window's host running: from the start in a trusted window, from the moment trust is granted in another,
 * anew when the archive root changes. Other folders and another memory default reach the running host, since a start
 * anew would stop the turns under way. An untrusted window serves nothing.
 */
export class HostService implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  /** Sessions came, went or changed, or serving failed or began to work again. */
  readonly onDidChange = this.#changed.event;
  readonly #subscriptions: vscode.Disposable[] = [this.#changed];
  #host: Host | undefined;
  #failure: string | undefined;
  /** What the running host serves. */
  #root = '';
  #folders: readonly string[] = [];
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

  /**
   * Serves what the window's state asks for now; with `force` by a new host in any case. Never rejects: a failure is
   * kept in `failure`. Calls take their turn.
   */
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
    try {
      const folders = vscode.workspace.isTrusted ? await servedFolders() : [];
      const { archiveRoot: root } = readSettings();
      if (this.#host && this.#root === root && vscode.workspace.isTrusted && !force)
        await this.#changeFolders(this.#host, folders);
      else await this.#startAnew(root, folders);
      this.#failure = undefined;
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error);
      this.log.error(`sessions cannot be served: ${this.#failure}`);
    }
    this.#changed.fire();
  }

  /** Turns under way go on, also those of a folder that was just closed. */
  async #changeFolders(host: Host, folders: readonly string[]): Promise<void> {
    if (JSON.stringify(folders) === JSON.stringify(this.#folders)) return;
    await host.setFolders(folders);
    this.#folders = folders;
    this.log.info(`serving ${folders.length} folder(s)`);
  }

  async #startAnew(root: string, folders: readonly string[]): Promise<void> {
    const old = this.#host;
    this.#host = undefined;
    await old?.dispose();
    if (folders.length === 0) return;
    const memoryDefault = () => readSettings().memoryEnabled;
    this.#host = await startHost({ root, folders, memoryDefault, log: this.log });
    this.#root = root;
    this.#folders = folders;
    this.#host.onChange(() => this.#changed.fire());
    this.log.info(`serving ${folders.length} folder(s)`);
  }
}

/** Real paths of the window's folders on this machine's disk: Pi's cwd is a real path, a folder's may be a link. */
export async function servedFolders(): Promise<readonly string[]> {
  const local = (vscode.workspace.workspaceFolders ?? []).filter(f => f.uri.scheme === 'file');
  return Promise.all(local.map(f => programFiles.realPath(f.uri.fsPath)));
}
