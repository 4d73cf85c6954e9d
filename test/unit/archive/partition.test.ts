import assert from 'node:assert/strict';
import fc from 'fast-check';
import { childrenOf, formatAddress, parentOf, tiles, type Address } from '../../../extension/archive/address';
import { Heap } from '../../../extension/archive/heap';
import { Partition, partsOfRuns, runsOf } from '../../../extension/archive/partition';

/** The rule of spec/archive.md 4.2 and 4.3 as it reads: a list, and a scan of all of it for each merge. */
class Naive {
  parts: { a: Address; bytes: number }[] = [];
  target: number | null = null;
  revision = 0;

  get bytes(): number {
    return 15 + this.parts.reduce((sum, part) => sum + part.bytes, 0) + Math.max(0, this.parts.length - 1);
  }
  evaluate(high: number, parent: (a: Address) => number | undefined): Address[] {
    const low = Math.floor(high / 2);
    if (this.bytes > high) this.target = Math.min(this.target ?? low, low);
    const merges: Address[] = [];
    if (this.target === null) return merges;
    const total = BigInt(this.parts.reduce((sum, part) => sum + part.a.count, 0));
    while (this.bytes > this.target) {
      let best: { at: number; bytes: number; gap: bigint; count: bigint } | undefined;
      for (let at = 0; at + 1 < this.parts.length; at += 1) {
        const left = this.parts[at]?.a as Address;
        const right = this.parts[at + 1]?.a as Address;
        if (left.count !== right.count || left.start % (2 * left.count) !== 0) continue;
        const bytes = parent(parentOf(left));
        if (bytes === undefined) continue;
        const gap = total - BigInt(right.start + right.count - 1);
        const count = BigInt(left.count);
        if (!best || gap * best.count > best.gap * count) best = { at, bytes, gap, count };
      }
      if (!best) break;
      const a = parentOf(this.parts[best.at]?.a as Address);
      this.parts.splice(best.at, 2, { a, bytes: best.bytes });
      merges.push(a);
    }
    if (this.bytes <= this.target) this.target = null;
    if (merges.length > 0) this.revision += 1;
    return merges;
  }
}

type Step =
  | { readonly do: 'append'; readonly bytes: number }
  | { readonly do: 'build'; readonly pick: number; readonly bytes: number; readonly early: boolean }
  | { readonly do: 'evaluate'; readonly high: number }
  | { readonly do: 'reopen' };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('append' as const), bytes: fc.integer({ min: 4, max: 90 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('build' as const),
      pick: fc.nat(),
      bytes: fc.integer({ min: 4, max: 120 }),
      early: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('evaluate' as const), high: fc.integer({ min: 0, max: 1500 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reopen' as const) }) },
);

/** Aligned runs of two or more within `total` records that are not built, ready ones first. */
function buildable(total: number, built: ReadonlyMap<string, number>, early: boolean): Address[] {
  const found: Address[] = [];
  for (let count = 2; count <= total; count *= 2) {
    for (let start = 0; start + count <= total; start += count) {
      const a = { start, count };
      const ready = count === 2 || childrenOf(a)?.every(half => built.has(formatAddress(half)));
      if (!built.has(formatAddress(a)) && (ready || early)) found.push(a);
    }
  }
  return found;
}

function shown(parts: Iterable<Address>): string[] {
  return Array.from(parts, formatAddress);
}

describe('the partition', () => {
  it('merges exactly what a scan of every pair would merge', () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 120, size: 'max' }), steps => {
        let partition = new Partition();
        const naive = new Naive();
        const built = new Map<string, number>();
        const lines = new Map<string, number>();
        const parent = (a: Address): number | undefined => built.get(formatAddress(a));
        for (const step of steps) {
          switch (step.do) {
            case 'append': {
              const a = { start: partition.total, count: 1 };
              lines.set(formatAddress(a), step.bytes);
              partition.append(a, step.bytes);
              naive.parts.push({ a, bytes: step.bytes });
              break;
            }
            case 'build': {
              // `early` also builds parents whose halves are no lines yet, as branches that share nodes do.
              const candidates = buildable(partition.total, built, step.early);
              const a = candidates[step.pick % Math.max(1, candidates.length)];
              if (!a) break;
              built.set(formatAddress(a), step.bytes);
              lines.set(formatAddress(a), step.bytes);
              partition.parentBuilt(a);
              break;
            }
            case 'evaluate': {
              const { merges } = partition.evaluate(step.high, parent);
              assert.deepEqual(shown(merges), shown(naive.evaluate(step.high, parent)));
              break;
            }
            case 'reopen': {
              const lineBytes = (a: Address): number => lines.get(formatAddress(a)) as number;
              const parts = partsOfRuns(runsOf(partition));
              partition = Partition.fromParts(parts, lineBytes, partition.target, partition.revision);
              break;
            }
          }
          assert.deepEqual(
            shown(partition),
            naive.parts.map(part => formatAddress(part.a)),
          );
          assert.equal(partition.bytes, naive.bytes);
          assert.equal(partition.target, naive.target);
          assert.equal(partition.revision, naive.revision);
          assert.equal(partition.length, naive.parts.length);
          assert.ok(tiles([...partition], partition.total));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('comes back equal from its run lengths and from a replay of its merges', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 10, max: 100 }), { maxLength: 200, size: 'max' }),
        fc.integer({ min: 100, max: 3000 }),
        (sizes, high) => {
          const lineBytes = (a: Address): number => (a.count === 1 ? (sizes[a.start] as number) : 40);
          const live = new Partition();
          const replayed = new Partition();
          sizes.forEach((bytes, start) => {
            live.append({ start, count: 1 }, bytes);
            const { merges } = live.evaluate(high, lineBytes);
            replayed.append({ start, count: 1 }, bytes);
            replayed.replay(merges, lineBytes, live.target, live.revision);
          });
          assert.deepEqual(shown(replayed), shown(live));
          assert.equal(replayed.bytes, live.bytes);
          assert.deepEqual(shown(partsOfRuns(runsOf(live))), shown(live));
        },
      ),
    );
  });

  it('refuses lines that do not follow, and merges of lines it does not have', () => {
    const partition = new Partition();
    partition.append({ start: 0, count: 1 }, 10);
    assert.throws(() => partition.append({ start: 2, count: 1 }, 10), RangeError);
    assert.throws(() => partition.append({ start: 1, count: 2 }, 10), RangeError);
    assert.throws(() => partition.replay([{ start: 0, count: 2 }], () => 10, null, 1), RangeError);
    assert.throws(
      () =>
        partsOfRuns([
          [0, 1],
          [1, 1],
        ]),
      RangeError,
    );
    assert.throws(() => partsOfRuns([[0, 0]]), RangeError);
    assert.throws(() => partsOfRuns([[-1, 2]]), RangeError);
    assert.throws(() => partsOfRuns([[0.5, 2]]), RangeError);
    assert.throws(() => partsOfRuns([[0, 1e15]]), RangeError);
    assert.deepEqual(shown(partition), ['0+1']);
  });

  it('does not work more when the history is longer', () => {
    // Every look at a line's address is counted: the partition keeps the address objects it is given.
    let looks = 0;
    const counted = (start: number): Address => ({
      get start() {
        looks += 1;
        return start;
      },
      get count() {
        looks += 1;
        return 1;
      },
    });
    const looksFor = (records: number): { readonly quiet: number; readonly batch: number } => {
      const partition = new Partition();
      for (let start = 0; start < records; start += 1) partition.append(counted(start), 20);
      const parent = (): number => 20;
      looks = 0;
      partition.evaluate(partition.bytes, parent);
      const quiet = looks;
      // A budget that ten merges meet.
      const high = 2 * (partition.bytes - 10 * 21);
      partition.target = Math.floor(high / 2);
      looks = 0;
      assert.equal(partition.evaluate(high, parent).merges.length, 10);
      return { quiet, batch: looks };
    };
    const short = looksFor(1_000);
    const long = looksFor(16_000);
    assert.equal(long.quiet, 0);
    assert.ok(short.batch > 0, 'the looks are counted');
    // 16 times the lines may cost the logarithm more, 4 steps of a heap a merge, not 16 times.
    assert.ok(long.batch <= short.batch * 2, `${short.batch} looks at 1,000 lines, ${long.batch} at 16,000`);
  });

  it('asks once for a parent that is not built, not at every evaluation', () => {
    const partition = new Partition();
    for (let start = 0; start < 1_000; start += 1) partition.append({ start, count: 1 }, 20);
    let asked = 0;
    const none = (): undefined => {
      asked += 1;
      return undefined;
    };
    partition.evaluate(1_000, none);
    assert.equal(asked, 500);
    partition.evaluate(1_000, none);
    assert.equal(asked, 500);
    assert.equal(partition.target, 500);
    partition.parentBuilt({ start: 4, count: 2 });
    assert.deepEqual(shown(partition.evaluate(1_000, a => (a.start === 4 ? 20 : undefined)).merges), ['4+2']);
  });
});

describe('the heap', () => {
  it('gives its items in order with at most logarithmically many comparisons', () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { maxLength: 300, size: 'max' }), numbers => {
        let compared = 0;
        const heap = new Heap<number>((a, b) => {
          compared += 1;
          return a < b;
        });
        const most = 2 * Math.ceil(Math.log2(numbers.length + 2));
        for (const n of numbers) {
          compared = 0;
          heap.add(n);
          assert.ok(compared <= most);
        }
        const taken: number[] = [];
        while (heap.first !== undefined) {
          compared = 0;
          taken.push(heap.takeFirst() as number);
          assert.ok(compared <= most);
        }
        assert.deepEqual(
          taken,
          numbers.toSorted((a, b) => a - b),
        );
      }),
    );
  });
});
