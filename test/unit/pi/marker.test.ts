import assert from 'node:assert/strict';
import { branchMemory, modeMarker, newestRun, runHasMemory, runMarker } from '../../../extension/pi/marker';
import { SessionTree } from './sessionTree';

function add(tree: SessionTree, [customType, data]: [string, object]): string {
  return tree.add({ type: 'custom', customType, data });
}

describe('What a branch says of its memory', () => {
  it('is nothing where Strata never was', () => {
    const tree = new SessionTree();
    tree.user('hello');
    assert.deepEqual(branchMemory(tree), { said: 'none', untold: undefined });
  });

  it('is what the newest marker says, a turn’s or a person’s', () => {
    const tree = new SessionTree();
    add(tree, runMarker(true));
    tree.user('hello');
    assert.deepEqual(branchMemory(tree), { said: 'on', untold: undefined });
    add(tree, modeMarker(false, true));
    assert.deepEqual(branchMemory(tree), { said: 'off', untold: undefined });
    add(tree, runMarker(true));
    assert.deepEqual(branchMemory(tree), { said: 'on', untold: undefined });
  });

  it('keeps a word that no owner took through the turns that follow, until one takes it', () => {
    const tree = new SessionTree();
    add(tree, runMarker(true));
    const said = add(tree, modeMarker(false, false));
    for (let turn = 0; turn < 3; turn++) {
      add(tree, runMarker(false));
      tree.user('without');
      assert.deepEqual(branchMemory(tree), { said: 'off', untold: 'off' });
    }
    add(tree, modeMarker(false, true));
    assert.deepEqual(branchMemory(tree), { said: 'off', untold: undefined });
    tree.navigate(said);
    add(tree, modeMarker(true, false));
    assert.deepEqual(branchMemory(tree), { said: 'on', untold: 'on' });
  });

  it('tells of the running turn whether its past is sent as memory', () => {
    const tree = new SessionTree();
    add(tree, runMarker(true));
    assert.ok(runHasMemory(tree.getEntry(newestRun(tree) ?? assert.fail())));
    add(tree, runMarker(false));
    add(tree, modeMarker(true, true));
    assert.ok(!runHasMemory(tree.getEntry(newestRun(tree) ?? assert.fail())));
  });
});
