import os from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';

export interface Settings {
  /** Empty: look for Pi. */
  readonly piPath: string;
  /** Absolute path of the folder of all archives. */
  readonly archiveRoot: string;
  /** Whether new sessions are remembered. */
  readonly memoryEnabled: boolean;
}

/** Pi's folder for settings, extensions and sessions: `PI_CODING_AGENT_DIR`, else `~/.pi/agent`. */
export function piAgentDir(): string {
  const named = process.env['PI_CODING_AGENT_DIR'];
  return named ? path.resolve(expandHome(named)) : path.join(os.homedir(), '.pi', 'agent');
}

/** Reads every setting anew, so that a change counts at once. Values of a wrong type count as unset. */
export function readSettings(): Settings {
  const strata = vscode.workspace.getConfiguration('strata');
  const text = (key: string) => {
    const value = strata.get<unknown>(key);
    return typeof value === 'string' ? value.trim() : '';
  };
  const root = expandHome(text('archiveRoot'));
  return {
    piPath: text('piPath'),
    // A relative root would depend on where VS Code was started.
    archiveRoot: path.isAbsolute(root) ? path.normalize(root) : path.join(piAgentDir(), 'strata'),
    memoryEnabled: strata.get<unknown>('memory.enabled') !== false,
  };
}

function expandHome(file: string): string {
  return file === '~' || /^~[\\/]/.test(file) ? path.join(os.homedir(), file.slice(1)) : file;
}
