import assert from 'node:assert/strict';
import { soak } from '../soak/soak';

/** One of each that must not be missed; `npm run soak` leaves more to chance, for longer. */
const FIRST = [
  { inside: 'window reloaded in a turn' },
  { between: 'tree', inside: 'host killed in a turn' },
  { between: 'host killed' },
  { between: 'fork', inside: 'Pi killed in a turn' },
  { between: 'host started', inside: 'steered' },
  { between: 'torn tail' },
  { between: 'clone', inside: 'turn aborted' },
  { between: 'checkpoint damaged', inside: 'all killed in a turn' },
  { between: 'resume', inside: 'reloaded in a turn' },
  { between: 'checkpoint deleted' },
  { between: 'shell command', inside: 'followed up' },
  { between: 'Pi killed' },
  { between: 'Pi closed' },
] as const;

describe('long use of a real Pi', function () {
  this.timeout(600_000);

  it('with reloads, forks, torn files and kills loses nothing and sends no raw history', async () => {
    const report = await soak({ seed: 7, turns: FIRST.length, first: FIRST });
    assert.deepEqual(report.broken, []);
    assert.equal(report.lost, 0);
    for (const step of FIRST)
      for (const name of Object.values(step)) assert.ok((report.events[name] ?? 0) > 0, `${name} happened`);
    assert.ok(report.kills >= 8, `${report.kills} were killed`);
    assert.ok(
      report.acknowledged >= 2 * FIRST.length - 4,
      `${report.acknowledged} messages were acknowledged`,
    );
    assert.ok(report.views > 0 && report.requests > report.views);
  });
});
