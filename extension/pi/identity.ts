import fs from 'node:fs';
import type { SessionId } from '../archive/ids';
import type { SessionIdentity } from '../archive/requests';
import type { ExtensionContext } from './piTypes';

/** By what the archive of this Pi's session is found. */
export function identityOf(ctx: ExtensionContext): SessionIdentity {
  const { sessionManager } = ctx;
  const sessionFile = sessionManager.getSessionFile();
  const parentSession = sessionManager.getHeader()?.parentSession;
  return {
    sessionId: sessionManager.getSessionId() as SessionId,
    cwd: realPath(sessionManager.getCwd()),
    ...(sessionFile !== undefined && { sessionFile }),
    ...(parentSession !== undefined && { parentSession }),
  };
}

/** A folder that is gone has no real path; the session still has an identity. */
function realPath(folder: string): string {
  try {
    return fs.realpathSync(folder);
  } catch {
    return folder;
  }
}
