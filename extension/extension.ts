import path from 'node:path';
import * as vscode from 'vscode';
import type { ArchiveId } from './archive/ids';
import type { FoundJournal } from './archive/ports';
import { archiveDir, readArchiveFolder } from './storage/archiveFolder';
import { ArchiveReaders } from './vscode/archiveReaders';
import { registerCommands } from './vscode/commands';
import { followDisk } from './vscode/diskWatch';
import { StrataDocuments } from './vscode/documents';
import { handlersOf, type Parts } from './vscode/handlers';
import { HostService } from './vscode/hostService';
import { Installer } from './vscode/installer';
import { activityOf, keptOf, type Kept } from './vscode/memoryPhase';
import { MemorySelection } from './vscode/memorySelection';
import { OpenedArchives } from './vscode/openedArchives';
import { claimStart, takeStartWish, type StartWish } from './vscode/openOnStart';
import { PiSessions } from './vscode/piSession';
import { SessionCatalogue } from './vscode/sessionCatalogue';
import { sessionPlaces } from './vscode/sessionPlaces';
import { hasSessionTerminal } from './vscode/sessionTerminal';
import type { ServedSession } from './vscode/serve';
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
  const served = () => Promise.all(service.sessions.map(session => memoryOf(session, readers, catalogue)));
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

/** What the status bar says of a session that runs here, by its journal. A journal that can't be read says nothing. */
async function memoryOf(session: ServedSession, readers: ArchiveReaders, catalogue: SessionCatalogue) {
  const reader = await readers.reader(session.id as ArchiveId).catch(() => undefined);
  const kept: Kept = reader
    ? keptOf(reader.follower.state)
    : { mode: undefined, records: 0, viewBytes: 0, lastTurn: 0 };
  const { archive, phase } = session;
  return {
    title: catalogue.titleOf(session),
    activity: activityOf({ archive, phase, kept }),
    lastActivity: kept.lastTurn,
  };
}

/** The journal that is an archive's now: in its folder, or in memory for a session that Pi keeps no file for. */
async function journalOf(id: ArchiveId, service: HostService): Promise<FoundJournal> {
  const live = service.sessions.find(session => session.id === id);
  if (live && live.dir === undefined) return { generation: 0, source: live.source };
  const folder = await readArchiveFolder(archiveDir(readSettings().archiveRoot, id));
  if (folder.state === 'refused') throw new Error(folder.reason);
  return { generation: folder.config.generation, source: folder.source };
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
