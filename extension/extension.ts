import path from 'node:path';
import * as vscode from 'vscode';
import type { ArchiveId } from './archive/ids';
import type { JournalSource } from './archive/ports';
import { archiveDir, readArchiveFolder } from './storage/archiveFolder';
import { ArchiveReaders } from './vscode/archiveReaders';
import { registerCommands } from './vscode/commands';
import { followDisk } from './vscode/diskWatch';
import { StrataDocuments } from './vscode/documents';
import { handlersOf, type Parts } from './vscode/handlers';
import { HostService } from './vscode/hostService';
import { Installer } from './vscode/installer';
import { activityOf } from './vscode/memoryPhase';
import { MemorySelection } from './vscode/memorySelection';
import { OpenedArchives } from './vscode/openedArchives';
import { claimStart, takeStartWish, type StartWish } from './vscode/openOnStart';
import { PiSessions } from './vscode/piSession';
import { SessionCatalogue } from './vscode/sessionCatalogue';
import { sessionPlaces } from './vscode/sessionPlaces';
import { hasSessionTerminal } from './vscode/sessionTerminal';
import { readSettings } from './vscode/settings';
import { StatusBar } from './vscode/statusBar';
import { MemoryTree } from './vscode/trees/memoryTree';
import { SessionsTree } from './vscode/trees/sessionsTree';

let host: HostService | undefined;

/** Builds the rooms and registers them. Returns its parts to tests, and nothing to other extensions. */
export function activate(context: vscode.ExtensionContext): Parts | undefined {
  const log = vscode.window.createOutputChannel('Strata', { log: true });
  context.subscriptions.push(log);
  try {
    const parts = build(context, log);
    return context.extensionMode === vscode.ExtensionMode.Test ? parts : undefined;
  } catch (error) {
    // VS Code itself tells nobody that an extension failed to start.
    const reason = error instanceof Error ? error.message : String(error);
    log.error(`activation failed: ${reason}`);
    void vscode.window.showErrorMessage(
      `Strata could not start: ${reason} Pi's files and the archives were not touched. Reload the window, or look into the log of Strata.`,
    );
    throw error;
  }
}

/** Frees the archives for the next owner. What was acknowledged is on disk already. */
export async function deactivate(): Promise<void> {
  await host?.stop();
}

function build(context: vscode.ExtensionContext, log: vscode.LogOutputChannel): Parts {
  const wish = takeStartWish(process.env);
  const own = <T extends vscode.Disposable>(part: T): T => {
    context.subscriptions.push(part);
    return part;
  };
  const service = (host = own(new HostService(log)));
  const opened = new OpenedArchives(context.workspaceState);
  const catalogue = new SessionCatalogue(
    sessionPlaces,
    () => service.sessions,
    () => opened.ids(),
  );
  const readers = new ArchiveReaders(id => journalOf(id, service));
  const selection = new MemorySelection(context.workspaceState, catalogue, () => service.sessions);
  const served = () =>
    service.sessions.map(session => ({
      title: catalogue.titleOf(session),
      activity: activityOf(session),
      lastActivity: session.archive.state.turns.at(-1)?.at ?? 0,
    }));
  const status = own(new StatusBar(served));
  const memory = own(new MemoryTree(readers));
  const settle = () => memory.show(selection.subject());
  const sessions = own(new SessionsTree(catalogue, settle));
  const installer = new Installer(path.join(context.extensionPath, 'dist'), versionOf(context), log);
  const pi = new PiSessions(installer, log);
  const parts: Parts = {
    ...{ log, cli: path.join(context.extensionPath, 'dist', 'cli.mjs'), host: service, catalogue, readers },
    ...{ documents: own(new StrataDocuments(readers)), selection, opened, installer, pi, memory, sessions },
    ...{ served, settle },
  };
  own(registerCommands(handlersOf(parts), log));
  own(
    service.onDidChange(() => {
      settle();
      sessions.redraw();
      status.refresh();
    }),
  );
  own(followDisk(parts));
  service
    .restart()
    .then(() => openWished(parts, context, wish))
    .catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      log.error(`the session that was asked for at the start could not be opened: ${reason}`);
      void vscode.window.showErrorMessage(
        `Strata could not open the session that was asked for: ${reason} Nothing was changed. Choose it in the Sessions view.`,
      );
    });
  return parts;
}

/** An archive's journal: of a session that runs here, whatever it is kept in, else from its folder. */
async function journalOf(id: ArchiveId, service: HostService): Promise<JournalSource> {
  const live = service.sessions.find(session => session.id === id);
  if (live) return live.source;
  const folder = await readArchiveFolder(archiveDir(readSettings().archiveRoot, id));
  if (folder.state === 'refused') throw new Error(folder.reason);
  return folder.source;
}

/** Opens the session that `npm start` asks for, once, with the memory beside it. */
async function openWished({ pi, log }: Parts, context: vscode.ExtensionContext, wish: StartWish | undefined) {
  if (!wish || !(await claimStart(context.workspaceState, process.ppid, hasSessionTerminal))) return;
  log.info('opening the session that was asked for at the start');
  await vscode.commands.executeCommand('workbench.view.extension.strata');
  await pi.open({ installUnasked: true, ...(wish.kind === 'file' && { file: wish.file }) });
}

function versionOf(context: vscode.ExtensionContext): string {
  const { version } = context.extension.packageJSON as { version: string };
  return version;
}
