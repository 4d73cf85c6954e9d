import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import overrides from '../../vectors/overrides.json';
import { KINDS } from '../../vectors/kinds';
import { runVectors } from '../../vectors/runner';
import type { Vector } from '../../vectors/vector';

const FILE = 'test/vectors/archive.json';
const VECTORS = (JSON.parse(fs.readFileSync(FILE, 'utf8')) as { vectors: Vector[] }).vectors;

/** What this release implements. */
const PASSING_KINDS = [
  'address',
  'attempts',
  'blocks',
  'branch_sources',
  'budgets',
  'cache_policy',
  'coarsen',
  'counter',
  'family',
  'leaf_method',
  'normalise',
  'one_line',
  'page',
  'page_cases',
  'page_default',
  'page_sum',
  'parent_method',
  'prefix_reuse',
  'receipts',
  'render',
  'request_guard',
  'sawtooth',
  'sawtooth_hash',
  'tiling',
];
const PASSING_SCRIPTS = ['ctx-01', 'ctx-02', 'ctx-03', 'saw-05', 'saw-06', 'saw-07', 'saw-08', 'saw-09'];

function run(command: string[]): { readonly code: number | null; readonly out: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' });
  return { code: status, out: stdout + stderr };
}

/** A folder with these files, gone afterwards. */
function withFiles(files: Readonly<Record<string, string>>, use: (folder: string) => void): void {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'strata-vectors-test-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
      fs.writeFileSync(path.join(folder, name), text);
    }
    use(folder);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

describe('the vectors', () => {
  for (const kind of PASSING_KINDS) {
    it(`of the kind ${kind} all pass`, () => {
      const vectors = VECTORS.filter(vector => vector.kind === kind);
      assert.ok(vectors.length > 0, 'there are some');
      for (const verdict of runVectors({ vectors }))
        assert.deepEqual(verdict, { id: verdict.id, verdict: 'passed' });
    });
  }

  it('of the sawtooth across restarts and changes of model all pass', () => {
    const vectors = VECTORS.filter(vector => PASSING_SCRIPTS.includes(vector.id));
    assert.equal(vectors.length, PASSING_SCRIPTS.length);
    for (const verdict of runVectors({ vectors })) assert.equal(verdict.verdict, 'passed', verdict.id);
  });

  it('fail when the product gives another answer, and say which', () => {
    const vector = VECTORS.find(({ id }) => id === 'merge-02');
    const wrong = { ...vector, expect: { merges: ['4+2'], parts: [], bytes: 210 } };
    assert.deepEqual(runVectors({ vectors: [wrong] }), [
      { id: 'merge-02', verdict: 'failed', why: '/merges/0: expected "4+2", got "0+4"' },
    ]);
    for (const kind of KINDS.keys()) {
      const broken = VECTORS.filter(v => v.kind === kind).map(v => ({ ...v, expect: [{ lines: 1 }] }));
      assert.ok(broken.length > 0, kind);
      for (const { verdict } of runVectors({ vectors: broken })) assert.equal(verdict, 'failed', kind);
    }
  });

  it('of an unknown kind fail', () => {
    const [verdict] = runVectors({ vectors: [{ id: 'x-1', kind: 'unheard-of' }] });
    assert.deepEqual(verdict, { id: 'x-1', verdict: 'failed', why: 'unknown kind unheard-of' });
  });

  it('are answered differently in seven known cases only, each with its reason', () => {
    assert.deepEqual(Object.keys(overrides.overrides).sort(), [
      'deliv-03',
      'hooks-06',
      'read-02',
      'wave-01',
      'wave-02',
      'wave-03',
      'wave-04',
    ]);
    for (const reason of Object.values(overrides.overrides)) assert.ok(reason.length > 40);
  });

  it('are counted by the command, which ends with 1 when one fails', () => {
    const named = (...ids: string[]): Vector[] => VECTORS.filter(({ id }) => ids.includes(id));
    withFiles(
      {
        'good.json': JSON.stringify({ vectors: named('addr-01', 'norm-01', 'wave-01') }),
        'bad.json': JSON.stringify({ vectors: [...named('addr-01'), { id: 'x-1', kind: 'unheard-of' }] }),
        'none.json': '{}',
      },
      folder => {
        const vectors = (file: string): { code: number | null; out: string } =>
          run(['scripts/vectors.mjs', path.join(folder, file)]);
        const good = vectors('good.json');
        assert.equal(good.code, 0);
        assert.match(good.out, /^answered differently wave-01: .*\n2 passed, 0 failed\n$/);
        assert.deepEqual(vectors('bad.json'), {
          code: 1,
          out: 'failed x-1: unknown kind unheard-of\n1 passed, 1 failed\n',
        });
        const none = vectors('none.json');
        assert.equal(none.code, 2);
        assert.match(none.out, /was not run/);
      },
    );
  });

  it('judge nothing that the product does not use itself', () => {
    assert.deepEqual(run(['scripts/vectorImports.mjs']), { code: 0, out: '' });
  });

  it('would be caught importing what only they use', () => {
    const product = { 'extension/pi/index.ts': '', 'extension/cli/main.ts': '' };
    withFiles(
      {
        ...product,
        'extension/extension.ts': "import { used } from './a/noun';",
        'extension/a/noun.ts': 'export const used = 1; export const unused = 2;',
        'extension/a/alone.ts': 'export const alone = 3;',
        'test/vectors/kind.ts':
          "import { used, unused } from '../../extension/a/noun'; import { alone } from '../../extension/a/alone';",
      },
      folder => {
        const { code, out } = run(['scripts/vectorImports.mjs', folder]);
        assert.equal(code, 1);
        assert.equal(
          out,
          'test/vectors/kind.ts imports unused from extension/a/noun.ts, which no module of a bundle does.\n' +
            'test/vectors/kind.ts imports extension/a/alone.ts, which no bundle contains.\n',
        );
      },
    );
  });
});
