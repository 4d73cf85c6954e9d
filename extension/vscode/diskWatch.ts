import path from 'node:path';
import * as vscode from 'vscode';
import { piSettingsFiles } from '../storage/piSessionDirs';
import { watchPaths, type Watch } from '../storage/watch';
import type { Parts } from './handlers';
import { piPlaces, sessionPlaces } from './sessionPlaces';

const BURST_MS = 100;

/**
 * Looks again when Pi's files or the archives change, whoever wrote them: other windows and programs do, too. What is
 * watched follows Pi's settings, which say where its files are.
 */
export function followDisk(parts: Parts): vscode.Disposable {
  const follower = new DiskFollower(parts);
  const changed = vscode.workspace.onDidChangeConfiguration(e => {
    if (!e.affectsConfiguration('strata.archiveRoot')) return;
    follower.follow();
    parts.readers.clear();
    parts.sessions.refresh();
    parts.settle();
  });
  const again = () => {
    follower.follow();
    parts.sessions.refresh();
  };
  return vscode.Disposable.from(
    follower,
    changed,
    vscode.workspace.onDidChangeWorkspaceFolders(again),
    vscode.workspace.onDidGrantWorkspaceTrust(again),
  );
}

class DiskFollower implements vscode.Disposable {
  #watches: readonly Watch[] = [];
  #turn: Promise<void> = Promise.resolve();
  #disposed = false;

  constructor(private readonly parts: Parts) {
    this.follow();
  }

  /** Watches what is to be watched now. Calls take their turn. */
  follow(): void {
    this.#turn = this.#turn.then(() => this.#follow()).catch((e: unknown) => this.#failed(String(e)));
  }

  dispose(): void {
    this.#disposed = true;
    this.#end();
  }

  async #follow(): Promise<void> {
    const { agentDir, sessionDirs, root } = await sessionPlaces();
    const settings = piSettingsFiles(await piPlaces());
    if (this.#disposed) return;
    this.#end();
    const look = () => {
      this.parts.sessions.refresh();
      this.parts.memory.refresh();
    };
    const onError = (reason: string) => this.#failed(reason);
    const options = { debounceMs: BURST_MS, onError };
    const again = () => {
      this.follow();
      this.parts.sessions.refresh();
    };
    this.#watches = [
      watchPaths([path.join(agentDir, 'sessions'), path.join(root, 'sessions')], look, {
        ...options,
        depth: 2,
      }),
      // Files lie in these folders themselves, which may be anybody's and large.
      watchPaths(sessionDirs, look, { ...options, depth: 1 }),
      watchPaths(settings, again, { ...options, depth: 0 }),
    ];
  }

  #end(): void {
    for (const watch of this.#watches) void watch.dispose();
    this.#watches = [];
  }

  #failed(reason: string): void {
    this.parts.log.warn(`watching failed: ${reason}`);
  }
}
