/** How numbers and times are written for people. Pure, so that each wording is a test. */

const KIB = 1024;

/** Bytes as people read them: `512 B`, `61 KB`, `1.4 MB`; 1 KB is 1,024 bytes. */
export function formatBytes(bytes: number): string {
  if (bytes < KIB) return `${bytes} B`;
  const kib = bytes / KIB;
  if (kib < 10) return `${oneDecimal(kib)} KB`;
  if (Math.round(kib) < KIB) return `${Math.round(kib)} KB`;
  const mib = kib / KIB;
  return mib < 10 ? `${oneDecimal(mib)} MB` : `${formatCount(Math.round(mib))} MB`;
}

/** A whole number with a comma between thousands: `1,204`. */
export function formatCount(n: number): string {
  return n.toLocaleString('en-US');
}

/** `1 record`, `1,204 records`. */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${formatCount(n)} ${n === 1 ? one : many}`;
}

function oneDecimal(n: number): string {
  return n.toFixed(1).replace(/\.0$/, '');
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * How long ago `at` was, both in milliseconds since 1970: `now`, `4 min ago`, `3 h ago`, `yesterday`, `5 days ago`,
 * then the date. A time ahead of us, from another machine's clock, is `now`.
 */
export function relativeTime(at: number, now: number): string {
  const age = now - at;
  if (age < MINUTE) return 'now';
  if (age < HOUR) return `${Math.floor(age / MINUTE)} min ago`;
  const days = Math.round((startOfDay(now) - startOfDay(at)) / DAY);
  if (days === 0 || age < 6 * HOUR) return `${Math.floor(age / HOUR)} h ago`;
  if (days === 1) return 'yesterday';
  return days < 7 ? `${days} days ago` : dateOf(at);
}

/** The same for a narrow place: `now`, `4m`, `3h`, `1d`, `5d`, then the date. */
export function briefTime(at: number, now: number): string {
  return relativeTime(at, now)
    .replace('yesterday', '1 days ago')
    .replace(/^(\d+) ([mhd])\w* ago$/, '$1$2');
}

/** The local date and time to the second: `2026-11-30 18:59:07`. */
export function exactTime(at: number): string {
  const d = new Date(at);
  return `${dateOf(at)} ${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

function dateOf(at: number): string {
  const d = new Date(at);
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
}
function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}
function two(n: number): string {
  return String(n).padStart(2, '0');
}
