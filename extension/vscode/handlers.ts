import path from 'node:path';
import * as vscode from 'vscode';
import { formatAddress } from '../archive/address';
import type { ArchiveId } from '../archive/ids';
import { rebuildView } from '../archive/frozenText';
import type { ArchiveReaders } from './archiveReaders';
import type { Handlers } from './commands';
import type { StrataDocuments } from './documents';
import { counted } from './figures';
import type { HostService } from './hostService';
import { importSessionFile } from './importer';
import type { Installer } from './installer';
import { showMemoryStatus } from './memoryStatus';
import type { MemorySelection } from './memorySelection';
import type { OpenedArchives } from './openedArchives';
import type { PiSessions } from './piSession';
import type { SessionCatalogue } from './sessionCatalogue';
import { sessionRow, type SessionFacts } from './sessionRows';
import { readSettings } from './settings';
import type { ServedMemory } from './statusModel';
import { originalOf, PREVIEW, type LineNode, type MemoryTree } from './trees/memoryTree';
import type { SessionsTree } from './trees/sessionsTree';

/** What the commands work on. */
export interface Parts {
  readonly log: vscode.LogOutputChannel;
  /** The `strata` command's program. */
  readonly cli: string;
  readonly host: HostService;
  readonly catalogue: SessionCatalogue;
  readonly readers: ArchiveReaders;
  readonly documents: StrataDocuments;
  readonly selection: MemorySelection;
  readonly opened: OpenedArchives;
  readonly installer: Installer;
  readonly pi: PiSessions;
  readonly memory: MemoryTree;
  readonly sessions: SessionsTree;
  /** What the status bar speaks of. */
  readonly served: () => Promise<readonly ServedMemory[]>;
  /** Draws anew what the selection says. */
  readonly settle: () => void;
}

/** What each command does. Arguments come from menus, keys and other extensions: each is checked. */
export function handlersOf(parts: Parts): Handlers {
  const { memory, sessions, host, documents } = parts;
  return {
    newSession: () => parts.pi.open(),
    openSessionFile: argument => openSessionFile(parts, argument),
    installPiExtension: () => parts.installer.install(),
    refreshSessions: () => sessions.refresh(),
    chooseSession: () => chooseSession(parts),
    openView: () => openView(parts),
    memoryStatus: async () => showMemoryStatus(await parts.served(), host.failure),
    showLog: () => parts.log.show(),
    showSession: argument => showSession(parts, sessionOf(parts, argument)),
    resumeSession: argument => {
      const facts = sessionOf(parts, argument);
      if (facts?.file === undefined || facts.state !== 'closed') return undefined;
      return parts.pi.open({ file: facts.file, ...(facts.cwd !== undefined && { cwd: facts.cwd }) });
    },
    importSession: argument => {
      const facts = sessionOf(parts, argument) ?? parts.catalogue.session(memory.subject?.archive ?? '');
      return facts?.file === undefined ? undefined : readIntoMemory(parts, facts.file);
    },
    openOriginal: (argument, how) => {
      const node = lineOf(parts, argument);
      if (node?.row.kind === undefined) return undefined;
      const title = `${node.row.address.start} ${node.row.kind}`;
      return documents.open(originalOf(node), title, {
        preview: true,
        preserveFocus: how === PREVIEW,
      });
    },
    copyAddress: argument => copy(lineOf(parts, argument), node => formatAddress(node.row.address)),
    copyLine: argument => copy(lineOf(parts, argument), node => node.text),
    retry: async () => {
      if (host.failure !== undefined) await host.restart(true);
      memory.again();
      sessions.refresh();
    },
  };
}

/** A session row that a menu passed; from a palette or a key, the selected one. */
function sessionOf(parts: Parts, argument: unknown): SessionFacts | undefined {
  const key = field(argument, 'key') ?? field(parts.sessions.view.selection[0], 'key');
  return parts.catalogue.sessions.find(facts => facts.key === key);
}

function lineOf(parts: Parts, argument: unknown): LineNode | undefined {
  const node = argument ?? parts.memory.view.selection[0];
  return parts.memory.isLine(node) ? node : undefined;
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

async function copy(node: LineNode | undefined, text: (node: LineNode) => string): Promise<void> {
  if (node) await vscode.env.clipboard.writeText(text(node));
}

async function showSession(parts: Parts, facts: SessionFacts | undefined): Promise<void> {
  if (!facts) return;
  if (facts.id === undefined) {
    void vscode.window.showWarningMessage(
      `${facts.file ?? 'This session'} can't be read: ${facts.problem ?? 'it is damaged.'} It was not changed.`,
    );
    return;
  }
  await parts.selection.choose(facts.id);
  parts.settle();
}

async function chooseSession(parts: Parts): Promise<void> {
  await parts.catalogue.read();
  const now = Date.now();
  const items = parts.catalogue.sessions.map(facts => {
    const { label, description, icon } = sessionRow(facts, now);
    return { label: `$(${icon}) ${label}`, description, facts };
  });
  const chosen = await vscode.window.showQuickPick(items, {
    title: 'Show Memory of Session',
    placeHolder: items.length ? 'Type to find one' : 'This folder has no Pi sessions yet',
    matchOnDescription: true,
  });
  if (!chosen) return;
  await showSession(parts, chosen.facts);
  await vscode.commands.executeCommand('strata.memory.focus');
}

/** The newest frozen view of the shown session, exactly as it was sent. */
async function openView(parts: Parts): Promise<void> {
  const archive = parts.memory.subject?.archive;
  if (archive === undefined) return;
  const { state } = (await parts.readers.reader(archive)).follower;
  const turn = state.turns.at(-1);
  if (!turn) {
    void vscode.window.showInformationMessage('No request has carried a view of this session yet.');
    return;
  }
  if (!(await rebuildView(state, turn.receipt)).verified)
    void vscode.window.showWarningMessage(
      `The view of turn ${turn.number} can't be rebuilt exactly: its hash differs from the one that was stored. What is shown may not be what was sent.`,
    );
  await parts.documents.open({ kind: 'view', archive, turn: turn.id }, `view of turn ${turn.number}`, {
    preview: true,
  });
}

async function openSessionFile(parts: Parts, argument: unknown): Promise<ArchiveId | undefined> {
  let uri = argument instanceof vscode.Uri ? argument : undefined;
  uri ??= (
    await vscode.window.showOpenDialog({
      title: 'Open a session file of Pi',
      openLabel: 'Open',
      filters: { 'Pi sessions': ['jsonl'], 'All files': ['*'] },
    })
  )?.[0];
  if (uri === undefined) return undefined;
  if (uri.scheme !== 'file')
    throw new Error('Strata reads session files on the disk of the machine it runs on.');
  return readIntoMemory(parts, uri.fsPath);
}

/** Makes an archive of a session file, or brings its archive up to date, and shows it. */
async function readIntoMemory(parts: Parts, file: string): Promise<ArchiveId> {
  const running = parts.host.sessions.find(session => session.identity.sessionFile === file);
  if (running) {
    await parts.selection.choose(running.id as ArchiveId);
    parts.settle();
    return running.id as ArchiveId;
  }
  const imported = await vscode.window.withProgress(
    { location: { viewId: 'strata.memory' }, title: 'Reading the session' },
    () =>
      importSessionFile(parts.cli, file, readSettings().archiveRoot, AbortSignal.timeout(IMPORT_LIMIT_MS)),
  );
  await parts.opened.add(imported.archive);
  await parts.selection.choose(imported.archive);
  await parts.catalogue.read();
  parts.settle();
  parts.sessions.redraw();
  await vscode.commands.executeCommand('strata.memory.focus');
  const skipped = imported.skipped ? `, ${counted(imported.skipped, 'line')} could not be read` : '';
  void vscode.window.setStatusBarMessage(
    `${path.basename(file)}: ${counted(imported.messages, 'message')}, ${counted(imported.records, 'record')}${skipped}`,
    10_000,
  );
  return imported.archive;
}

/** A session of 20,000 messages takes seconds; an import that takes longer than this hangs. */
const IMPORT_LIMIT_MS = 10 * 60_000;
