// A journal as a long session leaves it, written straight to the disk: making it turn by turn would take minutes.
import fs from 'node:fs';
import path from 'node:path';
import { childrenOf, type Address } from '../../extension/archive/address';
import { nextChain, sha256Hex, sourceKey } from '../../extension/archive/canonical';
import { ROOT_CHAIN, type Capture, type Chain, type EntryId, type TurnId } from '../../extension/archive/ids';
import { renderedBytes } from '../../extension/archive/line';
import type { StoredMessage } from '../../extension/archive/message';
import type { Op } from '../../extension/archive/ops';
import { Partition, runsOf } from '../../extension/archive/partition';
import { encodeFrame } from '../../extension/storage/frame';

/** Records between two prompts. */
const TURN = 500;
/** Bindings in one commit. */
const BINDINGS = 250;
/** The oldest records, all of whose lines are written. */
const SUMMARISED = 16_384;
const SUMMARY_BYTES = 200;
const VIEW_BYTES = 128_000;
const RECORD_BYTES = 500;
const WORDS = 'the lamp in the harbour turns and the boats wait for the tide while gulls quarrel over nets ';

/** Appends a history of so many records to an empty journal file; gives its length in bytes. */
export function writeHistory(file: string, records: number): number {
  const history = new History(file);
  for (let start = 0; start < records; start += TURN) history.turn(start, Math.min(TURN, records - start));
  return history.end();
}

/** The journal of an archive folder that has just been made. */
export function journalOf(dir: string): string {
  return path.join(dir, 'journal-1.jsonl');
}

class History {
  readonly #fd: number;
  readonly #partition = new Partition();
  readonly #chains: Chain[] = [];
  #waiting: Buffer[] = [];
  #commits = 0;
  #bytes = 0;
  #base: Chain = ROOT_CHAIN;

  constructor(file: string) {
    this.#fd = fs.openSync(file, 'w', 0o600);
  }

  turn(start: number, count: number): void {
    const bound: Op[] = [];
    for (let n = start; n < start + count; n++) {
      const message = messageOf(n);
      const capture: Capture = { marker: `turn-${start}`, ordinal: n - start, role: message.role };
      this.#commit([{ op: 'message', capture, message }]);
      const after = this.#chains.at(-1) ?? ROOT_CHAIN;
      const chain = nextChain(after, sourceKey(message));
      bound.push({ op: 'bind', after, chain, entry: entryOf(n), capture });
      this.#chains.push(chain);
    }
    for (let i = 0; i < bound.length; i += BINDINGS) this.#commit(bound.slice(i, i + BINDINGS));
    for (let n = start; n < start + count; n++) this.#summarise(n);
    this.#freeze(`turn-${start}` as TurnId, start + count);
  }

  end(): number {
    this.#flush();
    fs.closeSync(this.#fd);
    return this.#bytes;
  }

  /** Every line that ends with that record and has two children, smallest first. */
  #summarise(last: number): void {
    const nodes: Op[] = [];
    for (let count = 2; (last + 1) % count === 0 && last < SUMMARISED; count *= 2)
      nodes.push({
        op: 'node',
        end: { chain: this.#chains[last] as Chain, ordinal: 0 },
        count,
        text: textOf(last, SUMMARY_BYTES),
        oversized: false,
        clipped: false,
        by: {
          model: 'bench/model',
          promptVersion: 1,
          attempts: 1,
          usage: { input: 900, output: 60, cacheRead: 8000, cacheWrite: 0, cost: 0.0004 },
          at: timeOf(last),
        },
      });
    if (nodes.length > 0) this.#commit(nodes);
  }

  #freeze(turn: TurnId, records: number): void {
    const partition = this.#partition;
    for (let start = partition.total; start < records; start++) {
      const leaf = { start, count: 1 };
      partition.append(leaf, renderedBytes(leaf, RECORD_BYTES));
    }
    const built = (a: Address) =>
      childrenOf(a) && a.start + a.count <= SUMMARISED ? renderedBytes(a, SUMMARY_BYTES) : undefined;
    const { merges } = partition.evaluate(VIEW_BYTES, built);
    const chain = this.#chains.at(-1) as Chain;
    const { target, revision, bytes } = partition;
    const pairs = merges.map(({ start, count }) => [start, count] as const);
    this.#commit([
      { op: 'partition', base: this.#base, chain, merges: pairs, target, revision },
      {
        ...{ op: 'receipt', turn, chain, records, parts: runsOf(partition), budget: VIEW_BYTES, bytes },
        sha256: sha256Hex(chain),
      },
    ]);
    this.#commit([{ op: 'sent', turn, requests: 40, status: 200 }]);
    this.#base = chain;
  }

  #commit(ops: readonly Op[]): void {
    const line = encodeFrame(JSON.stringify({ n: this.#commits, at: timeOf(this.#commits), ops }));
    this.#commits++;
    this.#bytes += line.length;
    this.#waiting.push(line);
    if (this.#waiting.length >= 2000) this.#flush();
  }
  #flush(): void {
    fs.writeSync(this.#fd, Buffer.concat(this.#waiting));
    this.#waiting = [];
  }
}

/** A record whose raw text has 500 bytes, one in seven of them with a character of more than one. */
function messageOf(n: number): StoredMessage {
  const text =
    n % 7 === 0 ? textOf(n, RECORD_BYTES - 8).replace('harbour', 'h\u00e2fen') : textOf(n, RECORD_BYTES - 6);
  const content = [{ type: 'text', text }] as const;
  return n % 5 === 0
    ? { role: 'user', content, timestamp: timeOf(n) }
    : { role: 'assistant', content, stopReason: 'stop', timestamp: timeOf(n) };
}
function textOf(n: number, bytes: number): string {
  return `${n} ${WORDS.repeat(Math.ceil(bytes / WORDS.length))}`.slice(0, bytes);
}
function timeOf(n: number): number {
  return 1_700_000_000_000 + n * 1000;
}
function entryOf(n: number): EntryId {
  return n.toString(16).padStart(8, '0') as EntryId;
}
