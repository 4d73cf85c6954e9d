import * as vscode from 'vscode';
import type { PiCommand } from './piLocator';

/** The name of every Pi terminal; a restored one is found again by it. */
export const TERMINAL_NAME = 'Pi';

/**
 * How the terminal of a Pi session is made. It opens in the editor area, where the whole conversation has room, and it
 * isn't transient: VS Code brings it back after a window reload with its process still running. Its environment is
 * the user's own; Pi finds Strata by the files that are installed, not by variables.
 */
export function terminalOptions(
  program: PiCommand,
  cwd: string,
  sessionFile: string | undefined,
): vscode.TerminalOptions {
  return {
    name: TERMINAL_NAME,
    iconPath: new vscode.ThemeIcon('layers'),
    shellPath: program.command,
    shellArgs: [...program.args, ...(sessionFile === undefined ? [] : ['--session', sessionFile])],
    cwd,
    env: { ...program.env },
    location: vscode.TerminalLocation.Editor,
    isTransient: false,
  };
}

/**
 * Opens Pi in a terminal and gives it the focus. When Pi ends within `EARLY_MS` with an error, its terminal closes and
 * takes the message along, so we say what to do.
 */
export function openSessionTerminal(
  program: PiCommand,
  cwd: string,
  sessionFile: string | undefined,
  onEarlyEnd: (code: number) => void,
): vscode.Terminal {
  const terminal = vscode.window.createTerminal(terminalOptions(program, cwd, sessionFile));
  const opened = Date.now();
  const closed = vscode.window.onDidCloseTerminal(ended => {
    if (ended !== terminal) return;
    closed.dispose();
    const code = ended.exitStatus?.code;
    if (code !== undefined && code !== 0 && Date.now() - opened < EARLY_MS) onEarlyEnd(code);
  });
  terminal.show(false);
  return terminal;
}

/** A Pi that cannot start is gone in well under this; one that ran this long told its reason on the screen. */
const EARLY_MS = 5000;

/** A Pi terminal of this window, also one that VS Code is still bringing back after a reload. */
export function hasSessionTerminal(): boolean {
  return (
    vscode.window.terminals.some(t => t.name === TERMINAL_NAME) ||
    vscode.window.tabGroups.all.some(group =>
      group.tabs.some(tab => tab.input instanceof vscode.TabInputTerminal && tab.label === TERMINAL_NAME),
    )
  );
}
