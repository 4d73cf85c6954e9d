import assert from 'node:assert/strict';
import fs from 'node:fs';
import { formatAddress, type Address } from '../../../extension/archive/address';
import { CompactorContext, type Lines } from '../../../extension/archive/compactorContext';
import { Partition } from '../../../extension/archive/partition';

type Operation =
  | ['leaf', size: number, times?: number]
  | ['node', start: number, count: number, size: number]
  | ['fit', high: number]
  | ['prior', end: number, viewBytes: number];
interface Script {
  readonly id: string;
  readonly ops: readonly Operation[];
  readonly expect: readonly { readonly shown?: string[]; readonly bytes?: number; readonly error?: string }[];
}

const { vectors } = JSON.parse(fs.readFileSync('test/vectors/archive.json', 'utf8')) as { vectors: Script[] };

/** Built lines of chosen sizes; each text begins with its address, so that what is shown can be told. */
class SizedLines implements Lines {
  processed = 0;
  readonly #shown = new Map<string, string>();

  add(a: Address, size: number): void {
    this.#shown.set(formatAddress(a), formatAddress(a).padEnd(size, 'x'));
    if (a.count === 1) this.processed++;
  }
  shown(a: Address): string | undefined {
    return this.#shown.get(formatAddress(a));
  }
  line(a: Address): { shownBytes: number; bytes: number } | undefined {
    const shownBytes = this.shown(a)?.length;
    return shownBytes === undefined
      ? undefined
      : { shownBytes, bytes: formatAddress(a).length + 1 + shownBytes };
  }
  lineBytes(a: Address): number {
    const line = this.line(a);
    assert.ok(line);
    return line.bytes;
  }
}

/** What the script's `prior` operations show, in order. */
function run(script: Script): object[] {
  const lines = new SizedLines();
  const main = new Partition();
  let context: CompactorContext | undefined;
  const built = (a: Address) => lines.line(a)?.bytes;
  return script.ops.flatMap((op): object[] => {
    switch (op[0]) {
      case 'leaf':
        for (let i = 0; i < (op[2] ?? 1); i++) {
          const leaf = { start: lines.processed, count: 1 };
          lines.add(leaf, op[1]);
          main.append(leaf, lines.lineBytes(leaf));
        }
        return [];
      case 'node':
        lines.add({ start: op[1], count: op[2] }, op[3]);
        main.parentBuilt({ start: op[1], count: op[2] });
        return [];
      case 'fit':
        main.evaluate(op[1], built);
        return [];
      case 'prior': {
        context ??= new CompactorContext(op[2]);
        context.follow(main, lines);
        let texts: string[] | undefined;
        try {
          texts = context.before(op[1], lines)?.map(a => lines.shown(a) ?? assert.fail('not built'));
        } catch (error) {
          assert.ok(error instanceof RangeError);
        }
        if (!texts) return [{ error: 'rejected' }];
        const bytes = Math.max(15, Buffer.byteLength(texts.join('\n')) + 15);
        return [{ shown: texts.map(text => text.replace(/x+$/, '')), bytes }];
      }
    }
  });
}

describe("a summary job's context", () => {
  for (const script of vectors.filter(({ id }) => /^ctx-0\d$/.test(id)))
    it(`shows the same lines of the same size as the vector ${script.id}`, () => {
      const expected = script.expect
        .filter((_, i) => script.ops[i]?.[0] === 'prior')
        .map(({ shown, bytes, error }) => (error ? { error } : { shown, bytes }));
      assert.ok(expected.length > 0);
      assert.deepEqual(run(script), expected);
    });

  it('shrinks again when the parents it lacked are built later', () => {
    const lines = new SizedLines();
    const main = new Partition();
    const context = new CompactorContext(16_384);
    for (let start = 0; start < 60; start++) lines.add({ start, count: 1 }, 100);
    context.follow(main, lines);
    assert.equal(context.before(60, lines)?.length, 60, 'nothing to merge yet');
    for (let start = 0; start < 60; start += 2) lines.add({ start, count: 2 }, 100);
    // All pairs: the shared partition still wants its low water, not just the quarter this job may take.
    assert.equal(context.before(60, lines)?.length, 30);
  });
});
