import * as vscode from 'vscode';
import { agentDir } from '../storage/piFolders';
import { sessionDirs, type SessionDirsOptions } from '../storage/piSessionDirs';
import { servedFolders } from './hostService';
import type { CataloguePlaces } from './sessionCatalogue';
import { readSettings } from './settings';

/** Where this window's sessions and archives lie, as Pi's settings and environment say right now. */
export async function sessionPlaces(): Promise<CataloguePlaces> {
  const options = await piPlaces();
  return {
    agentDir: options.agentDir,
    folders: options.folders,
    sessionDirs: await sessionDirs(options),
    root: readSettings().archiveRoot,
  };
}

/** Pi's folder and this window's. In a window without trust, what its folder says of other folders does not count. */
export async function piPlaces(): Promise<SessionDirsOptions> {
  return { agentDir: agentDir(), folders: await servedFolders(), trusted: vscode.workspace.isTrusted };
}
