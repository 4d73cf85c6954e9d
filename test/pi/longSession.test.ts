import assert from 'node:assert/strict';
import { readArchive } from '../../extension/cli/readArchive';
import { Sandbox } from '../support/pi';
import type { PiRpc } from '../support/piRpc';
import { entriesOf, headerOf, placeSession } from '../support/sessionFiles';

const ENTRIES = 20_000;
/** Milliseconds of work without a pause that nobody notices while typing. */
const BLOCK = 250;

/** Measures, while Strata starts, how long Pi's own thread works without letting anything else run. */
const METER = `
let timer, longest = 0;
const used = () => { const { user, system } = (process.threadCpuUsage ?? process.cpuUsage).call(process); return (user + system) / 1000; };
const watch = () => { let last = used(); timer = setInterval(() => { const now = used(); longest = Math.max(longest, now - last); last = now; }, 5); };
export default pi => {
  pi.on('session_start', () => watch());
  pi.registerCommand('longest', { description: 'says it', handler: async (_args, ctx) => { clearInterval(timer); ctx.ui.notify('longest ' + Math.round(longest), 'info'); } });
};
`;

/** Of Pi's own: the footer's progress, in the order it was shown. */
const progressIn = (pi: PiRpc, what: string) =>
  pi.events.flatMap(event => {
    const [, done] =
      new RegExp(`memory: ${what} this session, ([\\d,]+) of 20,0\\d\\d`).exec(String(event['statusText'])) ??
      [];
    return done === undefined ? [] : [Number(done.replaceAll(',', ''))];
  });

describe(`a session of ${ENTRIES.toLocaleString('en')} entries that was made without Strata`, () => {
  it('is taken into the archive with progress, without holding up Pi, and goes on where it was left', async function () {
    this.timeout(120_000);
    const box = await Sandbox.make();
    try {
      box.addExtension('a-meter', METER);
      await box.host();
      const entries = entriesOf(ENTRIES, n => `text ${n} ${'of a long conversation '.repeat(8)}`);
      const file = placeSession(box, 'long', [headerOf(box, 'long'), ...entries, '']);
      for (let records = 0, starts = 1; records < ENTRIES; starts++) {
        // A start waits 5 s for the archive; on a busy machine the next one does the rest.
        assert.ok(starts <= 6, `${records} records after ${starts - 1} starts`);
        const pi = box.rpc('--session', file);
        // Commands run when the session has started.
        await pi.send('prompt', { message: '/longest' });
        const said = await pi.until('the answer', event => /^longest/.test(String(event['message'])), 40_000);
        const longest = Number(String(said['message']).split(' ')[1]);
        assert.ok(longest > 0 && longest < BLOCK, `Pi's thread was busy for ${longest} ms`);
        for (const what of ['reading', 'storing']) {
          const steps = progressIn(pi, what);
          assert.ok(starts > 1 || steps.length >= 2, `${what}: ${steps.join()}`);
          assert.deepEqual(
            steps,
            [...steps].sort((a, b) => a - b),
          );
        }
        await pi.close();
        const { state } = await readArchive(box.archives[0] ?? assert.fail());
        const before = records;
        records = state.branch(state.newest)?.records ?? 0;
        assert.ok(records > before, 'it got no further');
      }
      assert.equal(box.model.requests.length, 0);
    } finally {
      await box.close();
    }
  });
});
