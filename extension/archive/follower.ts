import type { JournalSource, JournalTail } from './ports';
import type { ArchiveState } from './state';

/** The read model of an archive that somebody else may own. */
export declare class ArchiveFollower {
  constructor(source: JournalSource);
  readonly state: ArchiveState;
  readonly tail: JournalTail;
  /** Reads only what is new; true when something was. */
  refresh(): Promise<boolean>;
}
