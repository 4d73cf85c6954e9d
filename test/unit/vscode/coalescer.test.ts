import assert from 'node:assert/strict';
import { Coalescer } from '../../../extension/vscode/coalescer';

const sleep = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms));

describe('coalesced refresh', () => {
  it('a burst becomes at most ten runs a second, and the last request is covered', async () => {
    const starts: number[] = [];
    let state = 0;
    let seen = -1;
    const refresh = new Coalescer(async () => {
      starts.push(performance.now());
      seen = state;
    });
    for (const end = performance.now() + 450; performance.now() < end; await sleep(5)) {
      state++;
      refresh.request();
    }
    await sleep(250);
    assert.equal(seen, state);
    assert.ok(starts.length >= 3, `only ${starts.length} runs`);
    starts.forEach((at, i) => {
      const before = starts[i - 1];
      if (before !== undefined) assert.ok(at - before >= 95, `${at - before} ms apart`);
    });
    refresh.dispose();
  });

  it('slow work is never entered twice, and a request during it leads to one more run', async () => {
    let inside = 0;
    let runs = 0;
    const refresh = new Coalescer(async () => {
      assert.equal(++inside, 1);
      runs++;
      await sleep(60);
      inside--;
    }, 5);
    refresh.request();
    await sleep(20);
    assert.equal(inside, 1, 'the first run is under way');
    for (let i = 0; i < 10; i++) refresh.request();
    await sleep(250);
    assert.equal(runs, 2);
    refresh.dispose();
  });

  it('nothing runs while paused, and one run catches up', async () => {
    let runs = 0;
    const refresh = new Coalescer(async () => void runs++, 5);
    refresh.paused = true;
    for (let i = 0; i < 10; i++) refresh.request();
    await sleep(40);
    assert.equal(runs, 0);
    refresh.paused = false;
    await sleep(40);
    assert.equal(runs, 1);
    refresh.paused = true;
    refresh.paused = false;
    await sleep(40);
    assert.equal(runs, 1, 'nothing was missed, so nothing runs');
    refresh.dispose();
  });

  it('after dispose nothing runs any more', async () => {
    let runs = 0;
    const refresh = new Coalescer(async () => void runs++, 1);
    refresh.request();
    await sleep(20);
    refresh.request();
    await sleep(20);
    assert.equal(runs, 2);
    refresh.dispose();
    refresh.request();
    await sleep(20);
    assert.equal(runs, 2, 'disposed');
  });
});
