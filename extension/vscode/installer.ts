import * as vscode from 'vscode';
import type { Log } from '../archive/ports';
import { agentDir } from '../storage/piFolders';
import { installedPiExtension, installPiExtension, loaderPath } from '../storage/piInstall';
import { readSettings } from './settings';
import { trusted } from './trust';

/** Puts our part of Pi where Pi finds it. Asks before the first time; an update of what is there needs no question. */
export class Installer {
  #declined = false;

  /** `distDir` holds the built bundles of this version. */
  constructor(
    private readonly distDir: string,
    private readonly version: string,
    private readonly log: Log,
  ) {}

  /**
   * Makes sure that a session about to start is remembered, or that the person wants it without. False: they left the
   * question unanswered, so nothing starts. `unasked` answers yes.
   */
  async ensure(unasked: boolean): Promise<boolean> {
    const installed = await installedPiExtension(agentDir());
    if (installed.state === 'missing' && !unasked) {
      if (this.#declined) return true;
      const answer = await ask();
      if (answer === undefined) return false;
      if (answer === 'without') {
        this.#declined = true;
        return true;
      }
    }
    const result = await this.#install();
    if (result.state !== 'foreign') return true;
    const start = 'Start Without Memory';
    return (await vscode.window.showWarningMessage(result.reason, start)) === start;
  }

  /** *Install Pi Extension*: does it and says what was done. */
  async install(): Promise<void> {
    if (!(await trusted('installs nothing'))) return;
    const result = await this.#install();
    switch (result.state) {
      case 'foreign':
        void vscode.window.showErrorMessage(result.reason);
        return;
      case 'unchanged':
        void vscode.window.showInformationMessage(`Strata ${result.version} is already installed in Pi.`);
        return;
      case 'installed':
        void vscode.window.showInformationMessage(
          `Strata ${result.version} is installed in Pi (${result.loader}). Sessions that run already need /reload or a restart.`,
        );
    }
  }

  async #install() {
    const result = await installPiExtension({
      agentDir: agentDir(),
      root: readSettings().archiveRoot,
      version: this.version,
      distDir: this.distDir,
    });
    this.log.info(`Pi extension ${this.version}: ${result.state}`);
    return result;
  }
}

/** A quick pick, not a toast: the session that is about to start waits for the answer, and it is all keyboard. */
async function ask(): Promise<'install' | 'without' | undefined> {
  const chosen = await vscode.window.showQuickPick(
    [
      {
        label: '$(layers) Install and start',
        detail: `Adds one file, ${loaderPath(agentDir())}, and its program in Strata’s own folder. Asked once.`,
        answer: 'install' as const,
      },
      {
        label: '$(circle-slash) Start without memory',
        detail: 'Pi runs as usual. Install later with Strata: Install Pi Extension.',
        answer: 'without' as const,
      },
    ],
    {
      title: 'Let Strata remember what Pi does?',
      placeHolder: 'Pi needs a small extension of Strata for that',
      ignoreFocusOut: true,
    },
  );
  return chosen?.answer;
}
