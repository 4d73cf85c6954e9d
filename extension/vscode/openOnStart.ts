import path from 'node:path';
import type * as vscode from 'vscode';

/** Set by `npm start`: `1` opens a new Pi session, a path one that Pi has a file of. */
export const OPEN_VARIABLE = 'STRATA_OPEN_SESSION';
const OPENED_KEY = 'strata.openedFor';

export type StartWish = { readonly kind: 'new' } | { readonly kind: 'file'; readonly file: string };

/** Reads the wish and takes it out of the environment, so that nothing this window starts sees it again. */
export function takeStartWish(env: NodeJS.ProcessEnv): StartWish | undefined {
  const value = env[OPEN_VARIABLE];
  delete env[OPEN_VARIABLE];
  if (value === '1') return { kind: 'new' };
  return value !== undefined && path.isAbsolute(value) ? { kind: 'file', file: value } : undefined;
}

/**
 * Whether the wish is still open. VS Code gives the same environment to each extension host it starts, so a window
 * reload would open a second terminal beside the one that VS Code brings back. `server` tells one run of VS Code from
 * the next: the process that starts the hosts. True at most once for it and this workspace.
 */
export async function claimStart(
  memento: vscode.Memento,
  server: number,
  hasTerminal: () => boolean,
): Promise<boolean> {
  if (memento.get(OPENED_KEY) === server || hasTerminal()) return false;
  await memento.update(OPENED_KEY, server);
  return true;
}
