import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../scripts/tools.mjs';
import { assertNoErrors, footerIn, onlyArchive, ownerOf } from '../support/owner';
import { Sandbox, outline, viewOf } from '../support/pi';

describe('a Pi whose native part for locks does not load', () => {
  let box: Sandbox;
  beforeEach(async () => {
    box = await Sandbox.make();
    const native = path.join(path.dirname(box.bundle), 'native');
    assert.ok(existsSync(native));
    rmSync(native, { recursive: true });
  });
  afterEach(async () => {
    await box.close();
  });
  const notices = (events: readonly { readonly [field: string]: unknown }[]) =>
    events.filter(event => event['method'] === 'notify').map(event => String(event['message']));

  it('writes nothing, says so once, and goes on as Pi without memory', async () => {
    const pi = box.rpc();
    await pi.prompt('first ;; !say one');
    await pi.prompt('second ;; !say two');
    assert.deepEqual(outline(box.turns[1] ?? assert.fail()), [
      'system',
      'user first ;; !say one',
      'assistant one',
      'user second ;; !say two',
    ]);
    const said = notices(pi.events).filter(text => /runs without memory/.test(text));
    assert.equal(said.length, 1);
    assert.match(
      said[0] ?? '',
      /File locks do not work on this system \(linux-.*can be read here but not written/,
    );
    assert.equal(footerIn(pi), 'memory: off');
    await pi.send('prompt', { message: '/strata status' });
    assert.match(notices(pi.events).at(-1) ?? '', /^Memory is off\.\nFile locks do not work/);
    assertNoErrors(pi);
    await pi.close();
    for (const archive of box.archives)
      assert.deepEqual(
        readdirSync(archive).filter(name => name !== 'lock'),
        [],
      );
  });

  it('is served by a window that has it, and leaves the archive alone once that has gone', async () => {
    const host = await box.host();
    const pi = box.rpc();
    await pi.prompt('first ;; !say one');
    await pi.prompt('second ;; !say two');
    assert.match(viewOf(box.turns.at(-1) ?? assert.fail()) ?? '', /one/);
    const dir = onlyArchive(box);
    assert.equal(ownerOf(dir), host.pid);
    await host.stop();
    const files = () =>
      readdirSync(dir)
        .filter(name => name !== 'blobs')
        .map(name => [name, readFileSync(path.join(dir, name), 'latin1')]);
    const before = files();
    await pi.prompt('third ;; !say three');
    assert.equal(viewOf(box.turns.at(-1) ?? assert.fail()), undefined);
    assert.match(outline(box.turns.at(-1) ?? assert.fail()).join('\n'), /assistant two\nuser third/);
    assert.deepEqual(files(), before);
    assert.ok(notices(pi.events).some(text => /runs without memory/.test(text)));
    // A window is there again: what went on without it is remembered.
    await box.host();
    await pi.prompt('fourth ;; !say four');
    assert.match(viewOf(box.turns.at(-1) ?? assert.fail()) ?? '', /one[^]*two[^]*three/);
    await pi.close();
  });
});

describe('a window whose native part for locks does not load', () => {
  it('serves nobody and says why, and Pi, which has it, owns its session', async () => {
    const box = await Sandbox.make();
    try {
      // The package looks for a build for this name, as it does where there is none.
      const elsewhere = path.join(box.temporary, 'elsewhere.cjs');
      writeFileSync(elsewhere, "Object.defineProperty(process, 'arch', { value: 'none' });");
      const program = path.join(ROOT, 'out/test/pi/host.child.cjs');
      const ended = spawnSync(
        process.execPath,
        ['--require', elsewhere, program, box.root, 'on', box.project],
        { encoding: 'utf8', timeout: 20_000 },
      );
      assert.equal(ended.status, 1);
      assert.match(ended.stderr, /File locks do not work on this system .* can be read here but not written/);
      assert.equal(ended.stdout, '');
      assert.ok(!existsSync(path.join(box.root, 'run')));
      const pi = box.rpc();
      await pi.prompt('first ;; !say one');
      assert.equal(ownerOf(onlyArchive(box)), pi.pid);
      await pi.close();
    } finally {
      await box.close();
    }
  });
});
