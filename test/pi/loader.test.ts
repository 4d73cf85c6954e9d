import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { loaderPath } from '../../extension/storage/piInstall';
import { Sandbox, outline, viewOf } from '../support/pi';

describe('the installed loader', () => {
  let box: Sandbox;
  beforeEach(async () => {
    box = await Sandbox.make();
  });
  afterEach(async () => {
    await box.close();
  });

  it('refuses the prompts of a session that has a memory when its program is broken, in every mode', async () => {
    await box.host();
    await box.print('first ;; !say remembered');
    assert.equal(box.turns.length, 1);
    writeFileSync(box.bundle, 'throw new Error("a broken disk");');

    const printed = await box.print('-c', 'second ;; !say never');
    assert.equal(printed.code, 1);
    assert.match(printed.stderr, /could not be loaded \(a broken disk\).*Install Pi Extension/);

    const pi = box.rpc('-c');
    const answer = await pi.send('prompt', { message: 'third ;; !say never' });
    assert.deepEqual(answer['data'], { disposition: 'handled' });
    assert.match(
      String(pi.events.findLast(event => event['method'] === 'notify')?.['message']),
      /nothing was sent/,
    );
    assert.ok(pi.isRunning);
    await pi.close();

    const screen = await box.tui('-c');
    await screen.until(/demo-1/);
    await screen.type('fourth ;; !say never');
    await screen.press('Enter');
    await screen.until(/This session has a memory that cannot be read now, so nothing was sent/);
    assert.equal(box.turns.length, 1);
  });

  it('lets a session without a memory work on when its program is missing, and says so once', async () => {
    rmSync(path.dirname(box.bundle), { recursive: true });
    const pi = box.rpc();
    await pi.prompt('first ;; !say one');
    await pi.prompt('second ;; !say two');
    assert.deepEqual(outline(box.turns.at(-1) ?? assert.fail()), [
      'system',
      'user first ;; !say one',
      'assistant one',
      'user second ;; !say two',
    ]);
    const notices = pi.events
      .filter(event => event['method'] === 'notify')
      .map(event => String(event['message']));
    assert.equal(notices.length, 1);
    assert.match(notices[0] ?? '', /This session runs without memory\. Strata .* could not be loaded/);
    await pi.close();
  });

  it('is inert as a second copy: one memory, told once', async () => {
    const folder = path.join(box.project, '.pi/extensions');
    mkdirSync(folder, { recursive: true });
    copyFileSync(loaderPath(box.agent), path.join(folder, 'copy.js'));
    await box.host();
    const pi = box.rpc('--approve');
    await pi.prompt('first ;; !say one');
    await pi.prompt('second ;; !say two');
    assert.deepEqual(outline(box.turns.at(-1) ?? assert.fail()), [
      'system',
      'view',
      'user second ;; !say two',
    ]);
    assert.equal(viewOf(box.turns.at(-1) ?? assert.fail())?.match(/\|user: /g)?.length, 1);
    const notices = pi.events
      .filter(event => event['method'] === 'notify')
      .map(event => String(event['message']));
    assert.equal(notices.filter(text => /installed twice/.test(text)).length, 1);
    const markers = box.entries.filter(entry => entry['customType'] === 'strata.run');
    assert.equal(markers.length, 2);
    await pi.close();
  });

  it('costs a Pi that only lists its models nothing: no connection, no file', async () => {
    await box.host();
    const listed = await box.print('--list-models');
    assert.match(listed.stdout + listed.stderr, /demo-1/);
    assert.equal(box.archives.length, 0);
  });

  it('names the bundle that was installed', () => {
    assert.ok(readFileSync(loaderPath(box.agent), 'utf8').includes(JSON.stringify(box.bundle)));
  });
});
