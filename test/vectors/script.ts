import { formatAddress, type Address } from '../../extension/archive/address';
import { CompactorContext, type Lines } from '../../extension/archive/compactorContext';
import { Partition, partsOfRuns, runsOf } from '../../extension/archive/partition';
import { EMPTY_VIEW_BYTES } from '../../extension/archive/view';
import { lineBytes, shown } from './merges';
import { fieldsOf, type Handler } from './vector';

type Operation =
  | ['leaf', size: number, times?: number]
  | ['node', start: number, count: number, size: number]
  | ['fit', high: number]
  | ['reopen']
  | ['prior', end: number, viewBytes: number];

/** Operations on one partition, one result each. */
export const script: Handler = vector => {
  const { ops, expect } = fieldsOf<{ ops: Operation[]; expect: object[] }>(vector);
  const lines = new Map<string, number>();
  const build = (a: Address, size: number): number => {
    const bytes = lineBytes(a, size);
    lines.set(formatAddress(a), bytes);
    return bytes;
  };
  const built = (a: Address): number | undefined => lines.get(formatAddress(a));
  let partition = new Partition();
  let context: CompactorContext | undefined;
  const lineOf = (a: Address) => {
    const bytes = built(a);
    return bytes === undefined ? undefined : { bytes, shownBytes: bytes - formatAddress(a).length - 1 };
  };
  const prior = (end: number, viewBytes: number): object => {
    context ??= new CompactorContext(viewBytes);
    const processed = partition.total;
    const seen: Lines = { processed, line: lineOf, lineBytes: a => built(a) as number };
    context.follow(partition, seen);
    if (end > processed) return { error: 'rejected' };
    const parts = context.before(end, seen);
    if (!parts) return { error: 'rejected' };
    const sizes = parts.map(a => lineOf(a)?.shownBytes ?? 0);
    return {
      shown: shown(parts),
      bytes: EMPTY_VIEW_BYTES + sizes.reduce((sum, size) => sum + size, 0) + Math.max(0, sizes.length - 1),
      compactor: shown(context.shared),
      target: context.shared.target,
      revision: partition.revision,
    };
  };

  const run = (op: Operation): object => {
    switch (op[0]) {
      case 'leaf':
        for (let i = 0; i < (op[2] ?? 1); i += 1) {
          const leaf = { start: partition.total, count: 1 };
          partition.append(leaf, build(leaf, op[1]));
        }
        return { processed: partition.total };
      case 'node': {
        const a = { start: op[1], count: op[2] };
        build(a, op[3]);
        partition.parentBuilt(a);
        return {};
      }
      case 'fit': {
        const { merges } = partition.evaluate(op[1], built);
        return {
          parts: shown(partition),
          bytes: partition.bytes,
          target: partition.target,
          revision: partition.revision,
          merges: shown(merges),
        };
      }
      case 'reopen': {
        const saved = JSON.stringify([runsOf(partition), partition.target, partition.revision]);
        const [runs, target, revision] = JSON.parse(saved) as [[number, number][], number | null, number];
        partition = Partition.fromParts(partsOfRuns(runs), a => built(a) as number, target, revision);
        return {};
      }
      case 'prior':
        return prior(op[1], op[2]);
    }
  };
  return { expected: expect, actual: ops.map(run) };
};
