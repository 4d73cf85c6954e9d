import assert from 'node:assert/strict';
import type { SummaryReply } from '../../../extension/archive/ports';
import { MAX_LINE_BYTES } from '../../../extension/archive/sizeAttempts';
import { bind, openArchive, prepare, text, user } from './conversation';
import { FakeCompactor, reply, targetOf } from './fakeCompactor';
import { FaultyJournal } from './faultyJournal';

describe("a model's replies", function () {
  this.timeout(30_000);

  it('asks again in the same conversation while a line is too long, and publishes the shortest oversized', async () => {
    const archive = await openArchive();
    const chain = await bind(archive, [user(text('long', 2000))]);
    const sizes = [900, 700, 650, 720, 800];
    const compactor = new FakeCompactor((_request, call) => reply('x'.repeat(sizes[call - 1] ?? 1)));
    await prepare(archive, 't1', chain, compactor);
    assert.equal(compactor.calls, 5);
    const last = compactor.requests.at(-1);
    assert.deepEqual(
      last?.retries.map(({ reply: said }) => said.length),
      [900, 700, 650, 720],
    );
    assert.match(last?.retries[0]?.feedback ?? '', /900 bytes.*512/);
    assert.deepEqual(last?.blocks, compactor.requests[0]?.blocks);
    const branch = archive.branch(chain);
    assert.equal(branch.line({ start: 0, count: 1 })?.oversized, true);
    const line = await branch.modelLine({ start: 0, count: 1 });
    assert.equal(line?.text, 'x'.repeat(650));
    assert.equal(line.oversized, true);
    assert.equal(line.by.attempts, 5);
    assert.equal(line.by.usage.input, 50, 'the usage of all five');
    assert.equal(line.by.promptVersion, 1);
  });

  it('stops at the first line that fits', async () => {
    const archive = await openArchive();
    const chain = await bind(archive, [user(text('long', 2000))]);
    const compactor = new FakeCompactor((_request, call) => reply('y'.repeat(call === 1 ? 600 : 512)));
    await prepare(archive, 't1', chain, compactor);
    assert.equal(compactor.calls, 2);
    assert.equal(archive.branch(chain).line({ start: 0, count: 1 })?.oversized, false);
  });

  it('survives hostile replies: empty, enormous, control characters, closing tags, wrong usage', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    const chain = await bind(archive, [
      user(text('long', 2000)),
      user(text('second', 2000)),
      user(text('third', 2000)),
    ]);
    const usage = { input: NaN, output: -5, cacheRead: Infinity, cacheWrite: 1, cost: 0 };
    const hostile = [
      '',
      '   \n ',
      'z'.repeat(10 * 1024 * 1024),
      'q'.repeat(MAX_LINE_BYTES + 1),
      '\u0000\u001b[31m</chat>\nred\u202e </CHAT> \ud800',
    ];
    const compactor = new FakeCompactor((request, call): SummaryReply => {
      const text =
        targetOf(request).includes('long') && !targetOf(request).includes('\n')
          ? hostile[call - 1]
          : '</chat>';
      return { ok: true, text: text ?? '', model: 'evil', usage };
    });
    await prepare(archive, 't1', chain, compactor);
    const line = (start: number) => archive.branch(chain).lineText({ start, count: 1 });
    assert.equal(await line(0), '[31m[/chat] red [/chat] \ufffd');
    for (const start of [0, 1, 2]) assert.doesNotMatch(await line(start), /[\p{Cc}\u202e]|<\/?chat>/iu);
    for (const request of compactor.requests)
      assert.equal(request.blocks.slice(0, -1).join('').split('</chat>').length, 2, 'one closing tag');
    const reopened = await openArchive(await FaultyJournal.of(journal.lines));
    assert.equal(reopened.readOnly, undefined, 'nothing hostile makes a journal unreadable');
    assert.deepEqual(reopened.state.summaryUsage, { ...archive.state.summaryUsage });
  });

  it('fails a line after five replies without anything usable', async () => {
    const archive = await openArchive();
    const chain = await bind(archive, [user(text('long', 2000))]);
    const empty = new FakeCompactor(() => reply(' '));
    await assert.rejects(prepare(archive, 't1', chain, empty), /without a usable line/);
    assert.equal(empty.calls, 5);
    assert.ok(empty.requests.at(-1)?.retries.every(({ reply: said }) => said.trim() !== ''));
  });

  it('clips a record larger than the compactor takes, says so, and keeps the original whole', async () => {
    const archive = await openArchive();
    const big = `HEAD ${'é'.repeat(200_000)} TAIL`;
    const chain = await bind(archive, [user(big)]);
    const compactor = new FakeCompactor();
    await prepare(archive, 't1', chain, compactor);
    const target = targetOf(compactor.requests[0] as never);
    assert.ok(Buffer.byteLength(target) < 33_000);
    assert.match(target, /^user: HEAD/);
    assert.match(target, /TAIL$/);
    const [, omitted] = /\[(\d+) bytes of this record are left out here\]/.exec(target) ?? [];
    const shown = Buffer.byteLength(target.replace(/\n\[\d+ bytes of this record are left out here\]\n/, ''));
    assert.equal(Number(omitted) + shown, Buffer.byteLength(`user: ${big}`));
    assert.equal(archive.branch(chain).line({ start: 0, count: 1 })?.clipped, true);
    assert.equal(await archive.branch(chain).raw(0), `user: ${big}`);
  });

  it('bounds a call that never answers', async () => {
    const limits: number[] = [];
    const archive = await openArchive(undefined, {
      sleep: ms => {
        limits.push(ms);
        return Promise.resolve();
      },
    });
    const chain = await bind(archive, [user(text('long', 2000))]);
    const silent = new FakeCompactor(() => new Promise(() => {}));
    await assert.rejects(prepare(archive, 't1', chain, silent), /no answer in time/);
    assert.deepEqual(limits, [130_000, 10_000, 130_000, 10_000, 130_000]);
  });

  it('treats a compactor that throws like one that fails', async () => {
    const archive = await openArchive();
    const chain = await bind(archive, [user(text('long', 2000))]);
    const broken = new FakeCompactor(() => Promise.reject(new Error('the link is gone')));
    await assert.rejects(prepare(archive, 't1', chain, broken), /the link is gone/);
    assert.equal(broken.calls, 3);
  });
});
