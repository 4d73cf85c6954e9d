import { formatAddress, type Address } from '../../extension/archive/address';
import { Partition, partsOfRuns, runsOf } from '../../extension/archive/partition';
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
        throw new Error('the compactor context shows no addresses, which this operation compares');
    }
  };
  return { expected: expect, actual: ops.map(run) };
};
