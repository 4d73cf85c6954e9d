import { HeldArchives } from '../archive/heldArchives';
import type { Log } from '../archive/ports';
import type { SessionIdentity } from '../archive/requests';
import type { PiSide } from '../link/protocol';
import { startLinkServer, type LinkServer } from '../link/server';
import { SessionOwner } from '../link/sessionOwner';
import { openSessionPlace } from '../storage/sessionPlace';
import type { Reached } from './reached';

export interface OwnArchiveOptions {
  /** The archive root. */
  readonly root: string;
  readonly identity: SessionIdentity;
  readonly pi: PiSide;
  /** Whether a new archive's memory is on. */
  readonly memoryDefault: () => boolean;
}

/**
 * This Pi as the owner of its session's archive, with the engine that a window has (design.md section 1). Other Pis of
 * the session find it through the lock and are served as well. The lock is taken by `owner.open()`, which refuses
 * with `locked` or `no-locks`; dispose of it then. Throws when no private place for a socket is found.
 */
export async function ownArchive(options: OwnArchiveOptions): Promise<Reached> {
  const { root, identity, pi, memoryDefault } = options;
  let server: LinkServer | undefined;
  const archives = new HeldArchives({
    place: session => openSessionPlace(root, session, server?.runFile),
    memoryDefault,
    log: silent,
  });
  // Nobody else can have a session without a file. What the lock names must be there before the lock is taken.
  if (identity.sessionFile !== undefined)
    server = await startLinkServer({
      root,
      folders: [],
      session: identity,
      accept: (session, other) => Promise.resolve(new SessionOwner(() => archives.hold(session), other)),
      log: silent,
      name: 'the other Pi of this session',
    });
  const owner = new SessionOwner(() => archives.hold(identity), pi);
  return {
    owner,
    name: 'Pi',
    own: true,
    closed: new Promise<never>(() => undefined),
    dispose: async () => {
      await server?.dispose();
      await owner.release();
      await archives.close();
    },
  };
}

/** Pi's terminal is no place for a log; what a person must know arrives as a refusal. */
const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
