import fs from 'node:fs';
import { fusedValue } from '../archive/fusedLine';
import { linesOf } from '../archive/sessionFile';
import type { ExtensionContext, PiEntry, PiSession } from './piTypes';

/** What is wrong with the selected branch of a session: Pi lacks an entry that another one follows. */
export type Gap =
  /** Its line begins with one that was never finished. It was read all the same, so nothing is cut off. */
  | { readonly state: 'mended' }
  /** Nothing of it can be read. `before` is the last entry that stands before it in the file, if any. */
  | { readonly state: 'cut'; readonly before: string | undefined };

/**
 * A live session with what Pi's own reading leaves out. Pi skips a line it cannot read, and the walk from the leaf to
 * the root then ends there: everything older leaves the conversation without a word (spec/pi.md 3.2). Where a crash
 * left an unfinished line, Pi's next entry may stand behind it on the same line, and that one is found here.
 */
export class WholeSession implements PiSession {
  readonly #mended = new Map<string, PiEntry>();
  /** By the entry that is missing. */
  readonly #gaps = new Map<string, Gap>();

  constructor(
    private readonly pi: ExtensionContext['sessionManager'],
    /** Called once for each gap, when it is met. */
    private readonly met: (gap: Gap) => void,
  ) {}

  getLeafId(): string | null {
    return this.pi.getLeafId();
  }

  getEntry(id: string): PiEntry | undefined {
    return this.pi.getEntry(id) ?? this.#mended.get(id) ?? this.#mend(id);
  }

  /** The branches that end where an entry is missing, each by its last entry. */
  get cutOff(): readonly string[] {
    return [...this.#gaps.values()].flatMap(gap =>
      gap.state === 'cut' && gap.before !== undefined ? [gap.before] : [],
    );
  }

  #mend(id: string): PiEntry | undefined {
    if (this.#gaps.has(id)) return undefined;
    const entry = this.#fused(id);
    if (entry) this.#mended.set(id, entry);
    const gap: Gap = entry ? { state: 'mended' } : { state: 'cut', before: this.#before(id) };
    this.#gaps.set(id, gap);
    this.met(gap);
    return entry;
  }

  #fused(id: string): PiEntry | undefined {
    const file = this.pi.getSessionFile();
    if (file === undefined) return undefined;
    try {
      for (const line of linesOf(fs.readFileSync(file))) {
        if (!line.includes(JSON.stringify(id))) continue;
        const value = fusedValue(line) as PiEntry | undefined;
        if (value?.id === id) return value;
      }
    } catch {
      // A file that is gone or cannot be read says nothing of what is missing.
    }
    return undefined;
  }

  #before(missing: string): string | undefined {
    const entries = this.pi.getEntries();
    const after = entries.findIndex(entry => entry.parentId === missing);
    return entries[after - 1]?.id;
  }
}

/** A gap, in a sentence for people. */
export function sayGap(gap: Gap): string {
  switch (gap.state) {
    case 'mended':
      return (
        "A line of Pi's session file was never finished, so Pi itself no longer finds what was said before it. " +
        'Memory has all of it but that one unfinished message.'
      );
    case 'cut':
      return (
        "A line of Pi's session file cannot be read, so this conversation now begins after it, for Pi and for its memory. " +
        (gap.before === undefined
          ? 'Nothing readable stands before it.'
          : 'What stands before it is kept in the archive as a branch of its own; /tree goes back to it.')
      );
  }
}
