import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { lstatSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { assertNoErrors, settled, startTool, viewBytes } from '../support/owner';
import { Sandbox, outline, viewOf } from '../support/pi';

/** Files below a folder whose bytes hold the text. All of a sandbox's HOME, TMPDIR, agent folder and archive root is in it. */
function filesWith(folder: string, text: string): { readonly hits: string[]; readonly read: number } {
  const hits: string[] = [];
  let read = 0;
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const file = path.join(folder, name);
    if (!lstatSync(file).isFile()) continue;
    read++;
    if (name.includes(text) || readFileSync(file).includes(text)) hits.push(name);
  }
  return { hits, read };
}

describe('a session without a file (--no-session)', () => {
  let box: Sandbox;
  const word = () => `canary-${randomBytes(8).toString('hex')}`;
  beforeEach(async () => {
    box = await Sandbox.make();
  });
  afterEach(async () => {
    await box.close();
  });
  const last = () => box.turns.at(-1) ?? assert.fail();
  /** The words are nowhere on this sandbox's disk. */
  function assertNowhere(...words: string[]): void {
    for (const secret of words) {
      const { hits, read } = filesWith(box.dir, secret);
      assert.ok(read > 5, 'the sandbox was searched');
      assert.deepEqual(hits, []);
    }
    assert.equal(box.archives.length, 0);
    assert.equal(box.sessionFiles.length, 0);
  }

  it('is remembered by its window, and a word of it is found nowhere on the disk', async () => {
    const host = await box.host();
    const [said, tool] = [word(), word()];
    const pi = box.rpc('--no-session');
    await pi.prompt(`${said} ${'words '.repeat(200)} ;; !say one ${said}`);
    await pi.prompt(`second ;; !tool bash {"command":"echo ${tool}"} ;; !say two`);
    await pi.prompt('third ;; !say three');
    assert.match(viewOf(last()) ?? '', new RegExp(`${said}[^]*${tool}`));
    assertNowhere(said, tool);
    assertNoErrors(pi);
    await pi.close();
    await host.stop();
    assert.equal(host.log, '');
    assertNowhere(said, tool);
  });

  it('is remembered by Pi itself where no window is open, and a word of it is found nowhere on the disk', async () => {
    const said = word();
    const pi = box.rpc('--no-session');
    await pi.prompt(`${said} ${'words '.repeat(200)} ;; !say one`);
    await pi.prompt('second ;; !say two');
    assert.match(viewOf(last()) ?? '', new RegExp(said));
    assert.deepEqual(outline(last()), ['system', 'view', 'user second ;; !say two']);
    assertNowhere(said);
    assertNoErrors(pi);
    await pi.close();
    assertNowhere(said);
  });

  it('would be found if it were on the disk', async () => {
    const said = word();
    const pi = box.rpc();
    await pi.prompt(`${said} ;; !say one`);
    await pi.close();
    const { hits } = filesWith(box.dir, said);
    assert.ok(hits.some(name => name.endsWith('journal-1.jsonl')));
    assert.ok(hits.some(name => name.includes('sessions') && name.startsWith('agent')));
  });

  it('is sent again as a whole to the next owner, between turns and inside one', async () => {
    const said = word();
    const first = await box.host();
    const pi = box.rpc('--no-session');
    await pi.prompt(`${said} ;; !say one`);
    await first.kill();
    const second = await box.host();
    await pi.prompt('second ;; !say two');
    assert.match(viewOf(last()) ?? '', new RegExp(`${said}[^]*one`));

    const before = box.turns.length;
    const from = await startTool(
      pi,
      'third ;; !tool bash {"command":"sleep 1.2; echo slow"} ;; !tool read {"path":"a.txt"} ;; !say three',
    );
    await second.kill();
    const third = await box.host();
    await settled(pi, from);
    const [one, two, three] = box.turns.slice(before);
    assert.ok(one && two && three);
    for (const request of [two, three]) assert.equal(viewBytes(request), viewBytes(one));

    // The last window is closed for good: Pi has it all.
    await third.stop();
    await pi.prompt('fourth ;; !say four');
    assert.match(viewOf(last()) ?? '', new RegExp(`${said}[^]*two[^]*slow[^]*content of a\\.txt[^]*three`));
    assertNoErrors(pi);
    await pi.close();
    assertNowhere(said);
  });

  it('stays without memory when its owner goes away after a person had switched it off', async () => {
    const first = await box.host();
    const pi = box.rpc('--no-session');
    await pi.prompt('first ;; !say one');
    await pi.send('prompt', { message: '/strata off' });
    await first.kill();
    await box.host();
    await pi.prompt('second ;; !say two');
    assert.equal(viewOf(last()), undefined);
    await pi.close();
  });
});
