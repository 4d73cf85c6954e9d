import type { Chain } from './ids';
import { isObject } from './json';
import type { ReceiptOp, SentOp } from './ops';
import { parseCommit } from './parseCommit';
import type { PartitionMark } from './partitionMark';
import { areTiled } from './partitionMark';
import type { SavedState } from './savedState';
import { Turns } from './turn';

/** The part of a state that is not columns. */
export type SavedFacts = Pick<
  SavedState,
  'marks' | 'turns' | 'newest' | 'mode' | 'commits' | 'usage' | 'firstPrompt'
>;

const CHAIN = /^[0-9a-f]{32}$/;

/** The facts as plain JSON. Turns are kept as the ops that made them, which have a parser. */
export function factsOf(saved: SavedState): unknown {
  const { newest, mode, commits, usage, firstPrompt, marks, turns } = saved;
  const ops = turns.flatMap(({ id, receipt, sent }): (ReceiptOp | SentOp)[] =>
    sent ? [receipt, { op: 'sent', turn: id, ...sent }] : [receipt],
  );
  return {
    newest,
    mode: mode ?? null,
    commits,
    usage: [usage.input, usage.output, usage.cacheRead, usage.cacheWrite, usage.cost],
    firstPrompt: firstPrompt ?? null,
    // A commit of its own, so that it goes through the same door.
    turns: JSON.stringify({ n: 0, at: 0, ops }),
    times: turns.map(({ at }) => at),
    marks: marks.map(([row, { runs, target, revision }]) => [row, target, revision, runs.flat()]),
  };
}

/** The same facts; undefined for anything that `factsOf` did not make. */
export function parseFacts(value: unknown): SavedFacts | undefined {
  if (!isObject(value)) return undefined;
  const { newest, mode, commits, firstPrompt } = value;
  if (typeof newest !== 'string' || !CHAIN.test(newest) || !isCount(commits)) return undefined;
  if (
    (mode !== null && typeof mode !== 'boolean') ||
    (firstPrompt !== null && typeof firstPrompt !== 'string')
  )
    return undefined;
  const usage = parseNumbers(value['usage']);
  const turns = parseTurns(value['turns'], parseNumbers(value['times']));
  const marks = parseMarks(value['marks']);
  if (usage?.length !== 5 || usage.some(n => n < 0) || !turns || !marks) return undefined;
  const [input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cost = 0] = usage;
  return {
    newest: newest as Chain,
    mode: mode ?? undefined,
    commits,
    usage: { input, output, cacheRead, cacheWrite, cost },
    firstPrompt: firstPrompt ?? undefined,
    turns,
    marks,
  };
}

function parseTurns(json: unknown, times: readonly number[] | undefined): SavedFacts['turns'] | undefined {
  const ops = typeof json === 'string' ? parseCommit(json)?.ops : undefined;
  if (!ops || !times) return undefined;
  const turns = new Turns();
  for (const op of ops) {
    if (op.op === 'receipt') {
      const at = times[turns.all.length];
      if (at === undefined || turns.get(op.turn) || !areTiled(op.parts)) return undefined;
      turns.add({ id: op.turn, at, receipt: op });
    } else if (op.op !== 'sent' || !turns.sent(op)) return undefined;
  }
  return times.length === turns.all.length ? turns.all : undefined;
}

function parseMarks(value: unknown): SavedFacts['marks'] | undefined {
  if (!Array.isArray(value)) return undefined;
  const marks: (readonly [number, PartitionMark])[] = [];
  for (const item of value as unknown[]) {
    if (!Array.isArray(item)) return undefined;
    const [row, target, revision, flat] = item as unknown[];
    const numbers = parseNumbers(flat);
    if (!isCount(row) || !isCount(revision) || !numbers || numbers.length % 2 !== 0) return undefined;
    if (target !== null && !isCount(target)) return undefined;
    const runs: [number, number][] = [];
    for (let i = 0; i < numbers.length; i += 2) {
      const [level, times] = [numbers[i], numbers[i + 1]];
      if (!isCount(level) || level > 52 || !isCount(times)) return undefined;
      runs.push([level, times]);
    }
    if (!areTiled(runs)) return undefined;
    marks.push([row, { runs, target, revision }]);
  }
  return marks;
}

function parseNumbers(value: unknown): readonly number[] | undefined {
  const fits = Array.isArray(value) && value.every(n => typeof n === 'number' && Number.isFinite(n));
  return fits ? (value as number[]) : undefined;
}
function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
