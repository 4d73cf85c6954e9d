import assert from 'node:assert/strict';
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { archiveToBe, lockedBy } from '../support/lockHolder';
import { Sandbox, outline, viewOf } from '../support/pi';
import { reasonIn, type PiRpc } from '../support/piRpc';

const footerIn = (pi: PiRpc) =>
  String(pi.events.findLast(event => event['method'] === 'setStatus')?.['statusText']);

/** Types `/strata VERB` and gives the answer. */
async function strata(pi: PiRpc, verb: string): Promise<string> {
  const from = pi.events.length;
  await pi.send('prompt', { message: `/strata ${verb}` });
  const notice = await pi.until('an answer', event => event['method'] === 'notify', 10_000, from);
  return String(notice['message']);
}

describe('a session whose memory is switched off', () => {
  let box: Sandbox;
  beforeEach(async () => {
    box = await Sandbox.make();
  });
  afterEach(async () => {
    await box.close();
  });

  it('goes on without memory when the person says so, keeps to it, and comes back', async () => {
    const other = await lockedBy(archiveToBe(box, 'a-session'));
    const pi = box.rpc('--session-id', 'a-session');
    await pi.prompt('refused ;; !say no');
    assert.equal(box.turns.length, 0);
    await pi.send('prompt', { message: '/strata off' });
    await pi.prompt('goes on ;; !say raw');
    await pi.prompt('and on ;; !say raw again');
    assert.deepEqual(outline(box.turns[1] ?? assert.fail()), [
      'system',
      'user refused ;; !say no',
      'user goes on ;; !say raw',
      'assistant raw',
      'user and on ;; !say raw again',
    ]);
    await pi.close();
    await other.kill();

    // The owner hears of it: off stays off, though a new session's memory would be on.
    await box.host();
    const again = box.rpc('-c');
    await again.prompt('served, yet off ;; !say raw still');
    assert.equal(viewOf(box.turns[2] ?? assert.fail()), undefined);
    await again.send('prompt', { message: '/strata status' });
    const status = String(again.events.findLast(event => event['method'] === 'notify')?.['message']);
    assert.match(status, /^Memory is off\.\n/);
    assert.match(status, /\nrecords: 7\n/);
    await again.send('prompt', { message: '/strata on' });
    await again.prompt('served ;; !say with memory');
    assert.deepEqual(outline(box.turns[3] ?? assert.fail()), [
      'system',
      'view',
      'user served ;; !say with memory',
    ]);
    assert.match(viewOf(box.turns[3] ?? assert.fail()) ?? '', /refused[^]*raw again[^]*raw still/);
    await again.close();
  });

  it('goes on when the person says so while another process owns the archive, and comes back', async () => {
    const host = await box.host();
    const pi = box.rpc();
    await pi.prompt('first ;; !say one');
    await host.stop();
    const other = await lockedBy(box.archives[0] ?? assert.fail());
    await box.host();
    const why = new RegExp(`owned by another process \\(pid ${other.pid}\\)`);
    assert.match(reasonIn(await pi.prompt('refused ;; !say no')), why);
    assert.match(reasonIn(await pi.prompt('refused again ;; !say no')), why);
    assert.equal(box.turns.length, 1);
    assert.match(await strata(pi, 'status'), /^Memory is on\.\n[^]*owned by another process/);

    assert.match(await strata(pi, 'off'), /^Memory is off\./);
    await pi.prompt('goes on ;; !say raw');
    await pi.prompt('and on ;; !say raw again');
    assert.deepEqual(outline(box.turns[2] ?? assert.fail()), [
      'system',
      'user first ;; !say one',
      'assistant one',
      'user refused ;; !say no',
      'user refused again ;; !say no',
      'user goes on ;; !say raw',
      'assistant raw',
      'user and on ;; !say raw again',
    ]);
    assert.equal(footerIn(pi), 'memory: off');
    assert.match(await strata(pi, 'status'), /^Memory is off\.\n[^]*owned by another process/);

    await other.kill();
    await pi.prompt('free, yet off ;; !say raw still');
    assert.equal(viewOf(box.turns[3] ?? assert.fail()), undefined);
    assert.match(await strata(pi, 'on'), /^Memory is on\. From the next prompt on/);
    await pi.prompt('served ;; !say with memory');
    assert.match(viewOf(box.turns[4] ?? assert.fail()) ?? '', /first[^]*refused[^]*raw again[^]*raw still/);
    await pi.close();
  });

  it('goes on when the person says so although the archive is damaged, and comes back', async () => {
    const host = await box.host();
    const pi = box.rpc();
    await pi.prompt('first ;; !say one');
    await pi.prompt('second ;; !say two');
    await host.stop();
    const folder = box.archives[0] ?? assert.fail();
    const journal = path.join(
      folder,
      readdirSync(folder).find(name => name.startsWith('journal-')) ?? assert.fail(),
    );
    const whole = readFileSync(journal);
    const hit = Buffer.from(whole);
    const at = whole.indexOf('first');
    assert.ok(at > 0);
    hit.write('F', at);
    writeFileSync(journal, hit);

    const second = await box.host();
    const refused = reasonIn(await pi.prompt('refused ;; !say no'));
    assert.match(refused, /damaged at byte \d+.*\/strata off/);
    assert.equal(box.turns.length, 2);
    assert.match(await strata(pi, 'status'), /^Memory is on\.\n[^]*damaged at byte/);

    assert.match(await strata(pi, 'off'), /^Memory is off\./);
    await pi.prompt('goes on ;; !say raw');
    await pi.prompt('and on ;; !say raw again');
    assert.deepEqual(outline(box.turns[3] ?? assert.fail()).slice(-4), [
      'user refused ;; !say no',
      'user goes on ;; !say raw',
      'assistant raw',
      'user and on ;; !say raw again',
    ]);
    assert.equal(viewOf(box.turns[3] ?? assert.fail()), undefined);
    assert.equal(footerIn(pi), 'memory: off');
    assert.match(await strata(pi, 'status'), /^Memory is off\.\n[^]*damaged at byte/);
    assert.match(await strata(pi, 'on'), /^\/strata on did not work\. .*damaged at byte/);
    await pi.close();

    // Off is kept by the session itself, also for the next Pi.
    const again = box.rpc('-c');
    await again.prompt('another Pi ;; !say raw too');
    assert.equal(viewOf(box.turns[4] ?? assert.fail()), undefined);
    assert.ok(readFileSync(journal).equals(hit), 'a damaged journal was written to');

    // Restored from a backup, the archive hears of it, and takes the rest when memory is wanted again.
    await second.stop();
    writeFileSync(journal, whole);
    await box.host();
    await again.prompt('restored, yet off ;; !say raw still');
    assert.equal(viewOf(box.turns[5] ?? assert.fail()), undefined);
    assert.match(await strata(again, 'on'), /^Memory is on\. From the next prompt on/);
    await again.prompt('served ;; !say with memory');
    assert.match(viewOf(box.turns[6] ?? assert.fail()) ?? '', /first[^]*second[^]*raw again[^]*raw still/);
    await again.close();
  });

  it('goes on without Strata’s program when memory was switched off, and is refused when it was not', async () => {
    await box.host();
    const pi = box.rpc();
    await pi.prompt('first ;; !say one');
    await strata(pi, 'off');
    await pi.close();
    rmSync(path.dirname(box.bundle), { recursive: true });
    const off = await box.print('-c', 'goes on ;; !say raw');
    assert.equal(off.code, 0);
    assert.match(off.stdout, /raw/);
    assert.match(off.stderr, /This session runs without memory/);
    assert.equal(box.turns.length, 2);

    await box.install();
    const again = box.rpc('-c');
    await strata(again, 'on');
    await again.close();
    rmSync(path.dirname(box.bundle), { recursive: true });
    const on = await box.print('-c', 'refused ;; !say no');
    assert.equal(on.code, 1);
    assert.match(on.stderr, /nothing was sent/);
    assert.equal(box.turns.length, 2);
  });

  it('goes on without memory when Pi was started with --strata-off', async () => {
    const { code, stdout } = await box.print('script ;; !say raw', '--strata-off');
    assert.equal(code, 0);
    assert.match(stdout, /raw/);
    assert.equal(box.turns.length, 1);
  });
});
