import path from 'node:path';
import * as vscode from 'vscode';
import { archiveRoot } from '../storage/piFolders';

export interface Settings {
  /** Empty: look for Pi. */
  readonly piPath: string;
  /** Absolute path of the folder of all archives. */
  readonly archiveRoot: string;
  /** Whether new sessions are remembered. */
  readonly memoryEnabled: boolean;
}

/** Reads every setting anew, so that a change counts at once. Values of a wrong type count as unset. */
export function readSettings(): Settings {
  const strata = vscode.workspace.getConfiguration('strata');
  const text = (key: string) => {
    const value = strata.get<unknown>(key);
    return typeof value === 'string' ? value.trim() : '';
  };
  const root = text('archiveRoot');
  return {
    piPath: text('piPath'),
    // A relative root would depend on where VS Code was started.
    archiveRoot: archiveRoot(path.isAbsolute(root) || root.startsWith('~') ? root : undefined),
    memoryEnabled: strata.get<unknown>('memory.enabled') !== false,
  };
}
