import type { OwnerLink } from '../link/client';
import type { Owner } from '../link/protocol';

/** An owner of the session's archive that this Pi can ask, wherever it runs. */
export interface Reached {
  readonly owner: Owner;
  /** As people call it: VS Code, or the Pi that has this session. */
  readonly name: string;
  /** Is it this Pi itself? */
  readonly own: boolean;
  /** Resolves when it is gone; never for this Pi itself. */
  readonly closed: Promise<void>;
  /** Ends the connection; where this Pi is the owner, closes the archive and frees its lock. */
  dispose(): Promise<void>;
}

/** The owner at the other end of a connection. */
export function reachedBy(link: OwnerLink): Reached {
  return {
    owner: link,
    name: link.host.name,
    own: false,
    closed: link.closed,
    dispose: () => {
      link.dispose();
      return Promise.resolve();
    },
  };
}
