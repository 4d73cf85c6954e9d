import assert from 'node:assert/strict';
import { burstLog } from '../../../extension/link/burstLog';
import { aLog } from './pieces';

describe('The log of the link', () => {
  it('says the same thing once a burst, and how often it was meant when it comes again', () => {
    const log = aLog();
    let now = 0;
    const burst = burstLog(log, () => now);
    for (let i = 0; i < 1000; i++, now += 9_999) burst.warn('bad header');
    burst.error('bad header');
    assert.deepEqual(log.lines, ['bad header', 'bad header']);
    now += 10_000;
    burst.warn('bad header');
    assert.deepEqual(log.lines.slice(2), ['bad header (999 more like it before)']);
  });

  it('says different things each, keeps few of them in mind and none of them whole when it is long', () => {
    const log = aLog();
    const burst = burstLog(log, () => 0);
    for (let round = 0; round < 2; round++) for (let i = 0; i < 100; i++) burst.info(`line ${i}`);
    assert.equal(log.lines.length, 100);
    burst.info('x'.repeat(10_000));
    assert.equal(log.lines.at(-1)?.length, 500);
    burst.info('line 0');
    assert.equal(log.lines.length, 102);
  });
});
