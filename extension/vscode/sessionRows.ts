import type { ArchiveId } from '../archive/ids';
import { briefTime, counted, exactTime, formatBytes, relativeTime } from './figures';

/** `attached`: another window or program on this machine owns the archive. */
export type SessionState = 'running' | 'attached' | 'closed' | 'damaged';

/** What is known of one session, put together from Pi's file, the archive and the host. */
export interface SessionFacts {
  /** Tells it from the others: the archive's id, or the path of a file that has none. */
  readonly key: string;
  /** Of its archive, whether that exists or not. Absent for a file that is no session any more. */
  readonly id?: ArchiveId;
  readonly state: SessionState;
  /** The name that was given to it in Pi. */
  readonly name?: string;
  readonly firstPrompt?: string;
  /** Where Pi worked. */
  readonly cwd?: string;
  /** Pi's file. Absent with `--no-session`, or when it is gone. */
  readonly file?: string;
  readonly fileBytes?: number;
  /** Bytes of the archive's journal; absent when nothing was ever read into an archive. */
  readonly journalBytes?: number;
  /** Known of sessions that run here. */
  readonly records?: number;
  /** Milliseconds since 1970. */
  readonly lastActivity: number;
  /** The process that owns the archive, when it is not ours. */
  readonly pid?: number;
  /** What is damaged, as a sentence. */
  readonly problem?: string;
}

/** One row of the Sessions view, ready to be drawn. */
export interface SessionRow {
  readonly label: string;
  readonly description: string;
  /** The row as a screen reader says it: nothing is abbreviated. */
  readonly spoken: string;
  readonly tooltip: string;
  readonly icon: string;
  readonly warning: boolean;
  /** Words for the `when` clauses of menus. */
  readonly context: string;
}

const TITLE_CHARS = 120;
/** A longer label would push time and size out of a side bar of usual width. */
const SHORT_CHARS = 24;

/** Newest activity first; what runs here comes before what doesn't. */
export function bySessionOrder(a: SessionFacts, b: SessionFacts): number {
  const here = (facts: SessionFacts) => (facts.state === 'running' ? 0 : 1);
  return here(a) - here(b) || b.lastActivity - a.lastActivity;
}

/** How a session is called: its name, else its first prompt, else when it was last used. Plain text. */
export function titleOf(facts: SessionFacts): string {
  const text = (facts.name ?? facts.firstPrompt ?? '')
    .slice(0, TITLE_CHARS)
    .replace(/[\s\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
  return text || exactTime(facts.lastActivity);
}

/** The title, cut to what leaves room beside it. */
export function shortTitleOf(facts: SessionFacts): string {
  const title = [...titleOf(facts)];
  return title.length <= SHORT_CHARS
    ? title.join('')
    : `${title
        .slice(0, SHORT_CHARS - 1)
        .join('')
        .trimEnd()}…`;
}

/** Pi has a file of it, but nothing was ever read into an archive. */
export function isUnread(facts: SessionFacts): boolean {
  return facts.journalBytes === undefined && facts.file !== undefined && facts.state !== 'damaged';
}

/** A row as it is drawn; `now` in milliseconds since 1970. */
export function sessionRow(facts: SessionFacts, now: number): SessionRow {
  return {
    label: shortTitleOf(facts),
    description: descriptionOf(facts, now),
    spoken: [
      titleOf(facts),
      STATES[facts.state].replace(/\.$/, ''),
      relativeTime(facts.lastActivity, now),
      sizeOf(facts),
    ].join(', '),
    tooltip: tooltipOf(facts, now),
    icon: ICONS[facts.state],
    warning: facts.state === 'damaged',
    context: contextOf(facts),
  };
}

const ICONS: Record<SessionState, string> = {
  running: 'circle-filled',
  attached: 'circle-large-filled',
  closed: 'circle-outline',
  damaged: 'warning',
};

const STATES: Record<SessionState, string> = {
  running: 'Running, remembered by this window.',
  attached: 'Running, remembered by another window or program',
  closed: 'No Pi is connected.',
  damaged: 'Damaged.',
};

/** When, then what is unusual or else how large: short enough for a side bar of usual width. The tooltip has it all. */
function descriptionOf(facts: SessionFacts, now: number): string {
  const note = facts.state === 'damaged' ? 'damaged' : facts.state === 'attached' ? 'elsewhere' : undefined;
  return [briefTime(facts.lastActivity, now), note ?? sizeOf(facts)].join(' · ');
}

function sizeOf(facts: SessionFacts): string {
  return facts.records !== undefined
    ? counted(facts.records, 'record')
    : formatBytes(facts.fileBytes ?? facts.journalBytes ?? 0);
}

function tooltipOf(facts: SessionFacts, now: number): string {
  const state =
    facts.state === 'attached'
      ? `${STATES.attached}${facts.pid === undefined ? '' : ` (pid ${facts.pid})`}.`
      : STATES[facts.state];
  const out = [
    titleOf(facts),
    `${state} Last activity ${relativeTime(facts.lastActivity, now)} (${exactTime(facts.lastActivity)}).`,
  ];
  if (facts.problem !== undefined) out.push(facts.problem);
  if (facts.records !== undefined) out.push(`${counted(facts.records, 'record')} remembered.`);
  if (facts.journalBytes !== undefined) out.push(`Archive: ${formatBytes(facts.journalBytes)}`);
  else if (isUnread(facts)) out.push('No archive: Strata was not there when it ran.');
  if (facts.file !== undefined) out.push(`Pi’s file: ${facts.file} (${formatBytes(facts.fileBytes ?? 0)})`);
  return out.join('\n');
}

function contextOf(facts: SessionFacts): string {
  const words = ['session', facts.state];
  if (isUnread(facts)) words.push('unread');
  // Pi has no lock on a session file: a second Pi on a running one would fork it without a word.
  if (facts.file !== undefined && facts.state === 'closed') words.push('resumable');
  return words.join(' ');
}
