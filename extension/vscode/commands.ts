import * as vscode from 'vscode';
import type { Log } from '../archive/ports';

/** Every command of package.json; a command without a handler does not compile, a test compares the two. */
export const COMMANDS = [
  'newSession',
  'openSessionFile',
  'installPiExtension',
  'refreshSessions',
  'chooseSession',
  'openView',
  'memoryStatus',
  'showLog',
  'showSession',
  'resumeSession',
  'importSession',
  'openOriginal',
  'copyAddress',
  'copyLine',
  'retry',
] as const;
export type CommandName = (typeof COMMANDS)[number];

/** What a command gets is whatever a menu, a key or another extension passes: each handler checks it. */
export type Handlers = Readonly<Record<CommandName, (argument?: unknown, how?: unknown) => unknown>>;

/**
 * Registers all commands. A handler that fails is shown once, as a sentence; the log gets the command's name only,
 * since messages may quote what is remembered.
 */
export function registerCommands(handlers: Handlers, log: Log): vscode.Disposable {
  const registered = COMMANDS.map(name =>
    vscode.commands.registerCommand(`strata.${name}`, async (argument?: unknown, how?: unknown) => {
      try {
        return await handlers[name](argument, how);
      } catch (error) {
        log.error(`strata.${name} failed`);
        const message = error instanceof Error ? error.message : String(error);
        void vscode.window.showErrorMessage(message);
        return undefined;
      }
    }),
  );
  return vscode.Disposable.from(...registered);
}
