import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isAddress, tiles, type Address } from '../../../extension/archive/address';
import type { Line } from '../../../extension/archive/line';
import {
  addressesBelow,
  memoryRow,
  topAddresses,
  type LineSource,
} from '../../../extension/vscode/memoryRows';

const NOW = new Date('2026-11-30T15:00:00').getTime();
const key = (a: Address) => `${a.start}+${a.count}`;

function source(records: number, lines: Record<string, Line> = {}): LineSource {
  return {
    records,
    line: a => lines[key(a)],
    record: n => ({ kind: 'user', timestamp: NOW + n, bytes: 20 }),
  };
}
const summary: Line = {
  method: 'model',
  textBytes: 14,
  shownBytes: 14,
  bytes: 300,
  oversized: false,
  clipped: false,
};
const written = {
  text: 'What was done.',
  by: {
    model: 'demo/one',
    promptVersion: 1,
    attempts: 2,
    usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0 },
    at: NOW - 4 * 60_000,
  },
};

/** Aligned parts that tile 0 … n-1, as a view's partition does. */
const partitions = fc.array(fc.nat(6), { maxLength: 12 }).map(levels => {
  const parts: Address[] = [];
  let at = 0;
  for (const level of levels) {
    let count = 2 ** level;
    while (at % count !== 0) count /= 2;
    parts.push({ start: at, count });
    at += count;
  }
  return parts;
});

describe('rows of the Memory view', () => {
  it('the top rows cover every record once, in order, whatever came after the view', () => {
    fc.assert(
      fc.property(partitions, fc.nat(3000), (parts, more) => {
        const last = parts.at(-1);
        const records = (last ? last.start + last.count : 0) + more;
        assert.ok(tiles(topAddresses(parts, records), records));
      }),
    );
  });

  it('a few records after the view are shown one by one, thousands in few runs', () => {
    assert.equal(topAddresses([{ start: 0, count: 4 }], 12).length, 9);
    assert.ok(topAddresses([], 100_000).length < 90);
  });

  it('opening a line leads to its two halves, opening a stretch without a line to at most 16 parts', () => {
    const branch = source(64, { '0+32': summary });
    assert.deepEqual(addressesBelow(branch, { start: 0, count: 32 }).map(key), ['0+16', '16+16']);
    assert.equal(addressesBelow(branch, { start: 32, count: 32 }).length, 16);
    assert.deepEqual(addressesBelow(branch, { start: 5, count: 1 }), []);
  });

  it('from every top row, opening again and again reaches each record exactly once', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 600 }), records => {
        const branch = source(records);
        const leaves: number[] = [];
        const walk = (a: Address) => {
          assert.ok(isAddress(a.start, a.count));
          const below = addressesBelow(branch, a);
          if (below.length === 0) leaves.push(a.start);
          else below.forEach(walk);
        };
        topAddresses([], records).forEach(walk);
        assert.deepEqual(
          leaves,
          Array.from({ length: records }, (_, i) => i),
        );
      }),
    );
  });

  it('a summary says who made it, when and in how many attempts', () => {
    const branch = source(8, { '0+8': summary });
    const row = memoryRow(branch, { start: 0, count: 8 }, written, 8, NOW);
    assert.equal(row.label, 'What was done.');
    assert.equal(row.method, 'model');
    assert.equal(row.description, '0+8 · 300 B');
    assert.equal(row.kind, undefined);
    assert.match(row.tooltip, /Records 0 to 7 \(8\)/);
    assert.match(row.tooltip, /demo\/one, 4 min ago \(2026-11-30 14:56:00\), 2 attempts/);
  });

  it('a single record leads to its original, with or without a line', () => {
    const row = memoryRow(source(3), { start: 2, count: 1 }, { text: 'user: prompt 2' }, 0, NOW);
    assert.equal(row.kind, 'user');
    assert.equal(row.label, 'user: prompt 2');
    assert.match(row.tooltip, /next prompt’s view will hold it/);
  });

  it('a stretch without a line is shown by the beginning of its first record', () => {
    const long: LineSource = {
      ...source(4),
      record: n => ({ kind: 'tool', timestamp: NOW + n, bytes: 9000 }),
    };
    const a = { start: 0, count: 4 };
    const row = memoryRow(long, a, { text: 'tool: a\nlong\u0000 output' }, 0, NOW);
    assert.equal(row.method, 'waiting');
    assert.equal(row.label, '4 records · tool: a long output');
    assert.equal(row.description, '0+4 · no summary yet');
  });

  it('whatever a record holds, its row is one line of bounded length', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 2000 }), text => {
        const { label } = memoryRow(source(1), { start: 0, count: 1 }, { text }, 1, NOW);
        assert.ok(label.length > 0 && label.length <= 400);
        assert.doesNotMatch(label, /[\n\r\u2028\u2029\p{Cc}]/u);
      }),
    );
  });
});
