import path from 'node:path';
import * as vscode from 'vscode';
import { agentDir, sessionDirOf } from '../storage/piFolders';
import { watchPaths, type Watch } from '../storage/watch';
import type { Parts } from './handlers';
import { readSettings } from './settings';

const BURST_MS = 100;

/** Looks again when Pi's files or the archives change, whoever wrote them: other windows and programs do, too. */
export function followDisk({ memory, sessions, readers, settle, log }: Parts): vscode.Disposable {
  const follow = (): Watch => {
    const { archiveRoot } = readSettings();
    const dirs = [path.join(agentDir(), 'sessions'), sessionDirOf(), path.join(archiveRoot, 'sessions')];
    const look = () => {
      sessions.refresh();
      memory.refresh();
    };
    const onError = (reason: string) => log.warn(`watching failed: ${reason}`);
    const options = { debounceMs: BURST_MS, depth: 2, onError };
    return watchPaths(
      dirs.filter(dir => dir !== undefined),
      look,
      options,
    );
  };
  let watch = follow();
  const changed = vscode.workspace.onDidChangeConfiguration(e => {
    if (!e.affectsConfiguration('strata.archiveRoot')) return;
    void watch.dispose();
    watch = follow();
    readers.clear();
    sessions.refresh();
    settle();
  });
  return vscode.Disposable.from(changed, { dispose: () => void watch.dispose() });
}
