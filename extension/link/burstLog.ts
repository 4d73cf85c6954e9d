import type { Log } from '../archive/ports';

/** Lines closer together than this many milliseconds belong to one burst. */
const QUIET_MS = 10_000;
/** Different lines that are kept apart. Their words are few: they name no content. */
const MAX_KINDS = 100;
const MAX_CHARS = 500;

type Level = keyof Log;

/**
 * A log that says the same thing once a burst, so that a peer that does wrong a thousand times a second can't fill a
 * disk. The first line of the next burst says how many were left out before it. `now` in milliseconds.
 */
export function burstLog(log: Log, now: () => number = Date.now): Log {
  const kinds = new Map<string, { last: number; left: number }>();
  const say = (level: Level) => (text: string) => {
    const line = text.slice(0, MAX_CHARS);
    const key = `${level} ${line}`;
    const known = kinds.get(key);
    const at = now();
    if (known && at - known.last < QUIET_MS) {
      known.last = at;
      known.left++;
      return;
    }
    const left = known?.left ?? 0;
    kinds.delete(key);
    if (kinds.size >= MAX_KINDS)
      for (const oldest of kinds.keys()) {
        kinds.delete(oldest);
        break;
      }
    kinds.set(key, { last: at, left: 0 });
    log[level](left === 0 ? line : `${line} (${left} more like it before)`);
  };
  return { info: say('info'), warn: say('warn'), error: say('error') };
}
