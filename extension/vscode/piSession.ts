import os from 'node:os';
import * as vscode from 'vscode';
import type { Log } from '../archive/ports';
import { programFiles } from '../storage/programFiles';
import type { Installer } from './installer';
import { INSTALL_PI, locatePi, type Located } from './piLocator';
import { openSessionTerminal } from './sessionTerminal';
import { readSettings } from './settings';
import { trusted } from './trust';

export interface OpenOptions {
  /** Pi's file of a session to go on with; absent: a new one. */
  readonly file?: string;
  /** Where Pi works; absent: a folder of the window, asked for when there are several. */
  readonly cwd?: string;
  /** Installs our part of Pi without asking: the demo's own Pi folder. */
  readonly installUnasked?: boolean;
}

/** Starts Pi in a terminal of this window: *New Pi Session* and *Resume in Terminal*. */
export class PiSessions {
  constructor(
    private readonly installer: Installer,
    private readonly log: Log,
  ) {}

  /** The terminal, or undefined when there is none because the person said no or was told why. */
  async open(options: OpenOptions = {}): Promise<vscode.Terminal | undefined> {
    if (!(await trusted('starts no Pi session'))) return undefined;
    const cwd = options.cwd ?? (await chooseFolder());
    if (cwd === undefined) return undefined;
    const located = await findPi();
    if (!located.found) {
      this.log.warn(`Pi cannot be started: ${located.missing}`);
      await explainMissing(located);
      return undefined;
    }
    if (!(await this.installer.ensure(options.installUnasked ?? false))) return undefined;
    return openSessionTerminal(located.program, cwd, options.file, code => {
      this.log.warn(`Pi ended with exit code ${code} right after its start`);
      void explainEarlyEnd(located.program.pi, code);
    });
  }
}

/** Looks for Pi with what this window knows now. */
export function findPi(): Promise<Located> {
  return locatePi(
    {
      platform: process.platform,
      home: os.homedir(),
      env: process.env,
      setting: readSettings().piPath,
      host: { execPath: process.execPath, electron: process.versions['electron'] !== undefined },
    },
    programFiles,
  );
}

async function chooseFolder(): Promise<string | undefined> {
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(f => f.uri.scheme === 'file');
  if (folders.length > 1) {
    const chosen = await vscode.window.showWorkspaceFolderPick({
      placeHolder: 'The folder Pi shall work in',
    });
    return chosen?.uri.fsPath;
  }
  const only = folders[0];
  if (only) return only.uri.fsPath;
  const open = 'Open Folder';
  const chosen = await vscode.window.showErrorMessage(
    'Pi works in a folder, and this window has none on this machine. Open one, then start the session again.',
    open,
  );
  if (chosen === open) await vscode.commands.executeCommand('vscode.openFolder');
  return undefined;
}

async function explainMissing(located: Extract<Located, { found: false }>): Promise<void> {
  const setting = 'Open Setting';
  const copy = 'Copy Install Command';
  const actions = located.missing === 'pi' ? [copy, setting] : [setting];
  const chosen = await vscode.window.showErrorMessage(located.message, ...actions);
  if (chosen === setting)
    await vscode.commands.executeCommand('workbench.action.openSettings', 'strata.piPath');
  if (chosen === copy) await vscode.env.clipboard.writeText(INSTALL_PI);
}

async function explainEarlyEnd(pi: string, code: number): Promise<void> {
  const setting = 'Open Setting';
  const chosen = await vscode.window.showErrorMessage(
    `Pi ended right after its start (exit code ${code}). Nothing was sent. Run "${pi}" in a terminal to see why, or let the setting strata.piPath name another one.`,
    setting,
  );
  if (chosen === setting)
    await vscode.commands.executeCommand('workbench.action.openSettings', 'strata.piPath');
}
