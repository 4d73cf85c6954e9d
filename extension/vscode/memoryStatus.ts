import * as vscode from 'vscode';
import { counted, formatBytes } from './figures';
import type { ServedMemory } from './statusModel';

interface Choice extends vscode.QuickPickItem {
  readonly command?: readonly [id: string, ...args: unknown[]];
  /** Shown in full instead of a command. */
  readonly reason?: string;
}

/**
 * What a click on the memory item shows: what is going on, in sentences, and below it what can be done.
 * `failure` is why nothing is served although something should be.
 */
export function statusChoices(
  served: readonly ServedMemory[],
  failure: string | undefined,
): readonly Choice[] {
  const facts = served.map<Choice>(memory => ({ command: ['strata.memory.focus'], ...describe(memory) }));
  if (failure !== undefined)
    facts.unshift({
      label: '$(warning) Strata cannot serve this window',
      detail: `${failure} Pi runs without memory or refuses prompts; what was remembered is safe.`,
      command: ['strata.retry'],
    });
  if (facts.length === 0)
    facts.push({
      label: 'No Pi session is running in this window',
      detail: 'Memory is read and written while one runs. Archives can be read at any time.',
    });
  return [
    ...facts,
    { label: 'actions', kind: vscode.QuickPickItemKind.Separator },
    { label: '$(layers) Show Memory', command: ['strata.memory.focus'] },
    { label: '$(add) New Pi Session', command: ['strata.newSession'] },
    {
      label: '$(refresh) Try Again',
      description: 'when what was in the way is gone',
      command: ['strata.retry'],
    },
    { label: '$(output) Show Log', command: ['strata.showLog'] },
  ];
}

function describe({ title, activity }: ServedMemory): Choice {
  switch (activity.state) {
    case 'ready':
      return {
        label: `$(check) ${title}`,
        detail: `Remembers ${counted(activity.records, 'record')}. Its last view had ${formatBytes(activity.viewBytes)}.`,
      };
    case 'preparing':
      return {
        label: `$(sync~spin) ${title}`,
        detail: `Writes lines: ${activity.done} of ${activity.total}. Pi’s request leaves when they are done. Esc in Pi stops it.`,
      };
    case 'stopped':
      return {
        label: `$(warning) ${title}`,
        description: 'memory stopped',
        // One row has room for what to do; the whole reason comes when it is chosen.
        detail: `Nothing was sent. Send the prompt again to retry. ${activity.reason}`,
        reason: activity.reason,
      };
    case 'off':
      return {
        label: `$(circle-slash) ${title}`,
        detail: 'Memory is off. Type /strata on in Pi to switch it on.',
      };
  }
}

/** Shows the status and does what is chosen. */
export async function showMemoryStatus(
  served: readonly ServedMemory[],
  failure: string | undefined,
): Promise<void> {
  const chosen = await vscode.window.showQuickPick(statusChoices(served, failure), {
    title: 'Strata Memory',
    placeHolder: 'What memory is doing, and what you can do',
  });
  if (chosen?.reason !== undefined) await explain(chosen.reason);
  else if (chosen?.command) await vscode.commands.executeCommand(...chosen.command);
}

async function explain(reason: string): Promise<void> {
  const log = 'Show Log';
  const chosen = await vscode.window.showWarningMessage(
    `${reason} Send the prompt again in Pi to retry, or type /strata off there to go on without memory.`,
    log,
  );
  if (chosen === log) await vscode.commands.executeCommand('strata.showLog');
}
