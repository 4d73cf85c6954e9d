import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { mark } from '../support/conversation';
import { viewBytes } from '../support/owner';
import { Sandbox } from '../support/pi';
import { reasonIn, type PiRpc } from '../support/piRpc';

const WINDOW = 200_000;
const STEPS = 12;
/** Bytes of one tool result: Pi itself cuts what a tool says at 50 KB. */
const STEP_BYTES = 40_000;

/** The demo model reports a token for four bytes of what it was sent. */
describe('a request that grows', function () {
  this.timeout(120_000);
  let box: Sandbox;
  let pi: PiRpc;
  before(async () => {
    box = await Sandbox.make({
      contextWindow: WINDOW,
      maxTokens: 64_000,
      models: [{ id: 'small', contextWindow: 60_000, maxTokens: 4096 }],
    });
    await box.host();
    pi = box.rpc();
  });
  after(() => box.close());

  it('goes out while what the model has counted leaves room, however many bytes it has', async () => {
    const lines = Array.from({ length: STEP_BYTES / 50 }, (_, i) => `${i}`.padEnd(49, '.')).join('\n');
    fs.writeFileSync(path.join(box.project, 'long.txt'), `${lines}\n`);
    const steps = Array.from({ length: STEPS }, () => '!tool bash {"command":"cat long.txt"}').join(' ;; ');
    const events = await pi.prompt(`much ${mark(1)} ;; ${steps} ;; !say all read`, 90_000);
    assert.match(JSON.stringify(events.filter(event => event.type === 'message_end').at(-1)), /all read/);
    assert.equal(box.turns.length, STEPS + 1);
    const bytes = Buffer.byteLength(box.turns.at(-1)?.raw ?? '');
    assert.ok(bytes > 400_000, `${bytes} bytes`);
  });

  it('is stopped where the model has no room for it, with the numbers, and the next prompt goes on', async () => {
    const before = box.turns.length;
    const events = await pi.prompt(`first ${mark(2)} ${'x'.repeat(520_000)}`, 60_000);
    assert.equal(box.turns.length, before, 'nothing was sent');
    const reason = reasonIn(events);
    assert.match(
      reason,
      /not sent: it may need \d{3},\d{3} tokens \(.* bytes that are new, .* kept for the reply\)/,
    );
    assert.match(reason, /has room for 200,000\. Nothing is lost.* Send a shorter prompt/);
    assert.doesNotMatch(reason, /strata off/, 'without memory it would be larger still');
    await pi.prompt(`short ${mark(3)} ;; !say here I am`, 60_000);
    assert.equal(box.turns.length, before + 1);
    assert.match(viewBytes(box.turns.at(-1) ?? assert.fail()), /talk: all read/);
    assert.equal(box.turns.at(-1)?.historyBytes, 0);
  });

  it('is stopped in the middle of a turn as well, and no tool runs after it', async () => {
    await pi.send('set_model', { provider: 'demo', modelId: 'small' });
    const before = box.turns.length;
    const reads = Array.from(
      { length: 8 },
      (_, i) => `!tool bash {"command":"touch ran-${i}; cat long.txt"}`,
    );
    const events = await pi.prompt(`grow ${mark(4)} ;; ${reads.join(' ;; ')} ;; !say never`, 60_000);
    const sent = box.turns.length - before;
    assert.ok(sent >= 3 && sent < 8, `${sent} requests`);
    assert.match(
      reasonIn(events),
      /tokens \([\d,]+ that small has counted.*Send a new prompt: it starts from the memory/,
    );
    const ran = Array.from({ length: 8 }, (_, i) => fs.existsSync(path.join(box.project, `ran-${i}`)));
    assert.equal(ran.filter(Boolean).length, sent, 'each request that left had its tool, no other ran');
    await pi.prompt(`on ${mark(5)} ;; !say and on`, 60_000);
    assert.equal(box.turns.length, before + sent + 1);
    assert.equal(box.turns.at(-1)?.historyBytes, 0);
  });
});
