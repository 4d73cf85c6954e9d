import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { watchPaths } from '../../../extension/storage/watch';
import { useScratch } from './scratch';

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

describe('A watch', function () {
  this.timeout(30_000);
  const folder = useScratch();

  it('calls once for a burst, and not at all once it was disposed', async () => {
    let calls = 0;
    const watch = watchPaths([folder()], () => calls++, { debounceMs: 200, depth: 1, onError: assert.fail });
    await watch.ready;
    mkdirSync(path.join(folder(), 'a'));
    for (let i = 0; i < 20; i++) writeFileSync(path.join(folder(), `${i}`), 'x');
    for (let waited = 0; calls === 0 && waited < 10_000; waited += 20) await pause(20);
    await pause(500);
    assert.ok(calls >= 1 && calls <= 3, `${calls} calls for one burst`);
    const before = calls;
    await watch.dispose();
    appendFileSync(path.join(folder(), '0'), 'y');
    await pause(500);
    assert.equal(calls, before);
  });

  it('sees a folder that was not there yet, and what happens in it later', async () => {
    let calls = 0;
    const called = async () => {
      for (let waited = 0; calls === 0 && waited < 10_000; waited += 20) await pause(20);
      return calls;
    };
    const later = path.join(folder(), 'much', 'later');
    const watch = watchPaths([later], () => calls++, { debounceMs: 20, depth: 1, onError: assert.fail });
    try {
      await watch.ready;
      mkdirSync(path.join(folder(), 'much'));
      await pause(300);
      mkdirSync(later);
      assert.ok((await called()) > 0, 'its coming was not seen');
      await pause(500);
      calls = 0;
      writeFileSync(path.join(later, 'file'), 'x');
      assert.ok((await called()) > 0, 'a new file in it was not seen');
    } finally {
      await watch.dispose();
    }
  });

  it('can be disposed before it is ready', async () => {
    const watch = watchPaths([folder()], assert.fail, { debounceMs: 10, depth: 1, onError: assert.fail });
    await watch.dispose();
    await watch.ready;
  });
});
