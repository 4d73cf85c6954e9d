import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  childrenOf,
  formatAddress,
  isAddress,
  levelOf,
  parentOf,
  tiles,
  type Address,
} from '../../../extension/archive/address';

/** Any address: a level, and a start that keeps its end within 2^53-1. */
const anyAddress: fc.Arbitrary<Address> = fc
  .integer({ min: 0, max: 52 })
  .chain(level =>
    fc
      .integer({ min: 0, max: Math.floor((Number.MAX_SAFE_INTEGER - 2 ** level) / 2 ** level) })
      .map(index => ({ start: index * 2 ** level, count: 2 ** level })),
  );

describe('addresses', () => {
  it('are aligned runs of a power of two, up to 2^53-1, and read as start+count', () => {
    fc.assert(
      fc.property(anyAddress, a => {
        assert.ok(isAddress(a.start, a.count));
        assert.deepEqual(formatAddress(a).split('+').map(Number), [a.start, a.count]);
        assert.equal(2 ** levelOf(a.count), a.count);
      }),
      { numRuns: 1000 },
    );
  });

  it('accept a count exactly when it is a power of two', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.maxSafeNat(),
          fc.integer({ min: 1, max: 53 }).chain(n => fc.constantFrom(2 ** n - 1, 2 ** n, 2 ** n + 1)),
        ),
        count => {
          const big = BigInt(count);
          const power = count > 0 && (big & (big - 1n)) === 0n && count <= Number.MAX_SAFE_INTEGER;
          assert.equal(isAddress(0, count), power);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('are refused when a number is no count of records', () => {
    for (const [start, count] of [
      [0.5, 1],
      [NaN, 1],
      [0, NaN],
      [0, Infinity],
      [-2, 2],
    ] as const)
      assert.equal(isAddress(start, count), false, `${start}+${count}`);
  });

  it('have two halves that have it as their parent', () => {
    fc.assert(
      fc.property(anyAddress, a => {
        const halves = childrenOf(a);
        if (a.count === 1) return assert.equal(halves, undefined);
        assert.ok(halves);
        assert.equal(halves[0].start, a.start);
        assert.equal(halves[0].start + halves[0].count, halves[1].start);
        assert.equal(halves[1].start + halves[1].count, a.start + a.count);
        for (const half of halves) assert.deepEqual(parentOf(half), a);
      }),
    );
  });

  it('tile a history only when nothing is missing, doubled or left over', () => {
    // Splitting whole runs of any level tiles by construction.
    const tiling = fc
      .tuple(fc.integer({ min: 1, max: 500 }), fc.infiniteStream(fc.boolean()))
      .map(([total, split]) => {
        const parts: Address[] = [];
        const add = (a: Address): void => {
          const halves = childrenOf(a);
          if (halves && split.next().value) halves.forEach(add);
          else parts.push(a);
        };
        let start = 0;
        for (let bit = 2 ** 9; bit >= 1; bit /= 2) {
          if (total & bit) {
            add({ start, count: bit });
            start += bit;
          }
        }
        return { parts, total };
      });
    fc.assert(
      fc.property(tiling, fc.nat(), ({ parts, total }, pick) => {
        assert.ok(tiles(parts, total));
        const at = pick % parts.length;
        assert.equal(tiles(parts, total + 1), false);
        assert.equal(tiles(parts.toSpliced(at, 1), total), false);
        assert.equal(tiles(parts.toSpliced(at, 0, parts[at] as Address), total), false);
      }),
    );
  });

  it('have no level when they are no power of two', () => {
    assert.throws(() => levelOf(3), RangeError);
    assert.throws(() => levelOf(0), RangeError);
  });
});
