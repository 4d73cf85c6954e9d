import { formatAddress, parentOf, type Address } from '../../extension/archive/address';
import { sha256Hex } from '../../extension/archive/canonical';
import { Partition } from '../../extension/archive/partition';
import { utf8Bytes } from '../../extension/archive/text';
import { lineOf } from '../../extension/archive/view';
import { addressOf } from './addresses';
import { fieldsOf, type Handler } from './vector';

/** The bytes of a line whose text is so many ASCII characters. */
export function lineBytes(a: Address, textBytes: number): number {
  return utf8Bytes(lineOf(a, 'x'.repeat(textBytes)));
}

export function shown(parts: Iterable<Address>): string[] {
  return Array.from(parts, formatAddress);
}

export const coarsen: Handler = vector => {
  const { input, expect } = fieldsOf<{
    input: {
      parts?: string[];
      built?: string[];
      textBytes?: number;
      texts?: Record<string, number>;
      target: number;
    };
    expect: object;
  }>(vector);
  const { parts, built, textBytes = 0, texts, target } = input;
  const known = new Set(texts ? Object.keys(texts) : [...(parts ?? []), ...(built ?? [])]);
  const bytes = (a: Address): number => lineBytes(a, texts?.[formatAddress(a)] ?? textBytes);
  const partition = Partition.fromParts((parts ?? []).map(addressOf), bytes, target, 0);
  // A budget that nothing exceeds leaves the remembered target alone: the batch goes on to exactly that.
  const { merges } = partition.evaluate(Infinity, a => (known.has(formatAddress(a)) ? bytes(a) : undefined));
  return {
    expected: expect,
    actual: { merges: shown(merges), parts: shown(partition), bytes: partition.bytes },
  };
};

export const counter: Handler = vector => {
  const { input, expect } = fieldsOf<{
    input: { appends: number; lineBytes: number };
    expect: { checkpoints: Record<string, string[]>; sha256: string };
  }>(vector);
  const bytes = (): number => input.lineBytes;
  const checkpoints: Record<string, string[]> = {};
  let partition = new Partition();
  let rows = '';
  for (let start = 0; start < input.appends; start += 1) {
    partition.append({ start, count: 1 }, input.lineBytes);
    // After n appends a rollback counter has as many slots as n+1 has binary digits, less one.
    const slots = 31 - Math.clz32(start + 2);
    const target = 14 + (input.lineBytes + 1) * slots;
    partition = Partition.fromParts(partition, bytes, target, 0);
    partition.evaluate(Infinity, bytes);
    const row = shown(partition);
    rows += row.join(' ') + '\n';
    if (expect.checkpoints[start + 1]) checkpoints[start + 1] = row;
  }
  return { expected: expect, actual: { checkpoints, sha256: sha256Hex(rows) } };
};

interface Rule {
  readonly unit?: string;
  readonly leaf: number | number[];
  readonly parent: number;
}
interface SawtoothInput {
  readonly rule: Rule;
  readonly appends: number;
  readonly high: number;
}
interface Row {
  readonly total: number;
  readonly bytes: number;
  readonly target: number | null;
  readonly revision: number;
  readonly merges?: string[];
  readonly parts: string[];
}

/** Every append of a sawtooth: parents are published as soon as their interval is complete, smallest first. */
function* sawtoothRows({ rule, appends, high }: SawtoothInput): Generator<Row> {
  const built = new Map<string, number>();
  const partition = new Partition();
  const publish = (a: Address): number => {
    const { leaf } = rule;
    const units =
      a.count > 1 ? rule.parent : typeof leaf === 'number' ? leaf : (leaf[a.start % leaf.length] as number);
    const bytes = utf8Bytes(lineOf(a, (rule.unit ?? 'x').repeat(units)));
    built.set(formatAddress(a), bytes);
    return bytes;
  };
  for (let start = 0; start < appends; start += 1) {
    const leaf = { start, count: 1 };
    partition.append(leaf, publish(leaf));
    for (let a = parentOf(leaf); a.start + a.count === start + 1; a = parentOf(a)) {
      publish(a);
      partition.parentBuilt(a);
    }
    const { merges } = partition.evaluate(high, a => built.get(formatAddress(a)));
    yield {
      total: partition.total,
      bytes: partition.bytes,
      target: partition.target,
      revision: partition.revision,
      ...(merges.length > 0 && { merges: shown(merges) }),
      parts: shown(partition),
    };
  }
}

export const sawtooth: Handler = vector => {
  const { input, expect } = fieldsOf<{ input: SawtoothInput; expect: Row[] }>(vector);
  return { expected: expect, actual: [...sawtoothRows(input)] };
};

export const sawtooth_hash: Handler = vector => {
  const { input, expect } = fieldsOf<{ input: SawtoothInput; expect: object }>(vector);
  let rows = '';
  let appendOnlySteps = 0;
  let rewritingSteps = 0;
  let last: Row | undefined;
  const batches: object[] = [];
  for (const row of sawtoothRows(input)) {
    const { total, bytes, merges, parts } = row;
    rows += parts.join(' ') + '\n';
    if (merges) batches.push({ total, merges: merges.length, bytes, lines: parts.length });
    // From the view before to this one: are all of its lines still there, in place?
    if (last?.parts.every((part, i) => part === parts[i])) appendOnlySteps += 1;
    else if (last) rewritingSteps += 1;
    last = row;
  }
  const actual = {
    sha256: sha256Hex(rows),
    batches,
    final: last?.parts,
    finalBytes: last?.bytes,
    appendOnlySteps,
    rewritingSteps,
  };
  return { expected: expect, actual };
};
