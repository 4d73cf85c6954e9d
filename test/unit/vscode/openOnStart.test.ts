import assert from 'node:assert/strict';
import type * as vscode from 'vscode';
import { claimStart, OPEN_VARIABLE, takeStartWish } from '../../../extension/vscode/openOnStart';

function memento(): vscode.Memento {
  const values = new Map<string, unknown>();
  return {
    keys: () => [...values.keys()],
    get: <T>(key: string, fallback?: T) => (values.has(key) ? (values.get(key) as T) : (fallback as T)),
    update: async (key: string, value: unknown) => void values.set(key, value),
  };
}
const none = () => false;

describe('a session that is wanted from the start', () => {
  it('the wish is read once and leaves the environment', () => {
    const env: NodeJS.ProcessEnv = { [OPEN_VARIABLE]: '1', OTHER: 'x' };
    assert.deepEqual(takeStartWish(env), { kind: 'new' });
    assert.deepEqual(env, { OTHER: 'x' });
    assert.equal(takeStartWish(env), undefined);
  });

  it('a path names a file of Pi; anything else is no wish', () => {
    assert.deepEqual(takeStartWish({ [OPEN_VARIABLE]: '/a/b.jsonl' }), { kind: 'file', file: '/a/b.jsonl' });
    for (const value of ['', '0', 'yes', 'b.jsonl'])
      assert.equal(takeStartWish({ [OPEN_VARIABLE]: value }), undefined);
  });

  it('a window reload opens nothing again, a new run of VS Code does', async () => {
    const state = memento();
    assert.equal(await claimStart(state, 100, none), true);
    assert.equal(await claimStart(state, 100, none), false);
    assert.equal(await claimStart(state, 200, none), true);
  });

  it('a terminal that VS Code brought back is enough', async () => {
    const state = memento();
    assert.equal(await claimStart(state, 100, () => true), false);
  });
});
