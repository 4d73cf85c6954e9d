import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT_CHAIN } from '../../../extension/archive/ids';
import { Ancestry } from '../../../extension/pi/ancestry';
import { Captures } from '../../../extension/pi/capture';
import type { ExtensionContext, PiEntry } from '../../../extension/pi/piTypes';
import { keepCutOff, reconcile } from '../../../extension/pi/reconcile';
import { WholeSession, sayGap, type Gap } from '../../../extension/pi/wholeSession';
import { ChainOwner } from './chainOwner';
import { SessionTree } from './sessionTree';

/** A session of six messages, of which Pi could not read entry number `missing`; its file has what `line` makes of them. */
function damaged(folder: string, missing: number, line: (entries: readonly string[]) => string[]) {
  const tree = new SessionTree();
  for (let i = 0; i < 3; i++) {
    tree.user(`question ${i}`);
    tree.assistant(`answer ${i}`);
  }
  const file = path.join(folder, 'session.jsonl');
  fs.writeFileSync(file, line(tree.entries.map(entry => JSON.stringify(entry))).join('\n'));
  const entries: readonly PiEntry[] = tree.entries.filter((_, at) => at !== missing);
  const gaps: Gap[] = [];
  const pi = {
    getLeafId: () => tree.getLeafId(),
    getEntry: (id: string) => entries.find(entry => entry.id === id),
    getEntries: () => entries,
    getSessionFile: () => file,
  } as unknown as ExtensionContext['sessionManager'];
  const whole = new WholeSession(pi, gap => gaps.push(gap));
  const ancestry = new Ancestry(whole);
  ancestry.read();
  const undamaged = new Ancestry(tree);
  undamaged.read();
  return { whole, ancestry, gaps, chains: undamaged.chains() };
}

describe('a session file with a line that Pi cannot read', () => {
  let folder: string;
  beforeEach(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'strata-whole-'));
  });
  afterEach(() => {
    fs.rmSync(folder, { recursive: true });
  });

  it('is whole again when the entry stands behind an unfinished one on that line, and says so once', () => {
    const { ancestry, gaps, chains, whole } = damaged(folder, 3, lines => [
      ...lines.slice(0, 3),
      `{"type":"message","id":"torn","parentId":"e2","message":{"role":"assis${lines[3] ?? ''}`,
      ...lines.slice(4),
    ]);
    assert.deepEqual(ancestry.chains(), chains);
    assert.deepEqual(gaps, [{ state: 'mended' }]);
    assert.deepEqual(whole.cutOff, []);
    ancestry.read();
    assert.equal(gaps.length, 1);
    assert.match(gaps.map(sayGap).join(), /Memory has all of it/);
  });

  it('keeps what stands before a line that nothing can be read of, as a branch of its own', async () => {
    const { ancestry, gaps, chains, whole } = damaged(folder, 3, lines =>
      lines.map((line, at) => (at === 3 ? line.slice(0, 50) : line)),
    );
    assert.equal(ancestry.chains().length, 2);
    assert.deepEqual(gaps, [{ state: 'cut', before: 'e2' }]);
    assert.match(gaps.map(sayGap).join(), /kept in the archive as a branch of its own/);

    const owner = new ChainOwner();
    const parts = {
      ancestry,
      captures: new Captures(),
      bind: owner.bind.bind(owner),
      kept: new Set<string>(),
    };
    await keepCutOff(parts, whole);
    await reconcile(parts);
    for (const chain of [...chains.slice(0, 3), ...ancestry.chains()]) assert.ok(owner.chains.has(chain));
    // What it was asked about last is the selected branch.
    assert.equal(owner.requests.at(-1)?.after, ROOT_CHAIN);
    assert.equal(owner.requests.at(-1)?.sources.length, 2);
    const sent = owner.sent;
    await keepCutOff(parts, whole);
    await reconcile(parts);
    assert.equal(owner.sent, sent, 'it was sent twice');
  });

  it('says that nothing stands before it when it is the first', () => {
    const { gaps, ancestry } = damaged(folder, 0, lines => lines.slice(1));
    assert.equal(ancestry.chains().length, 5);
    assert.deepEqual(gaps, [{ state: 'cut', before: undefined }]);
    assert.match(gaps.map(sayGap).join(), /Nothing readable stands before it/);
  });
});
