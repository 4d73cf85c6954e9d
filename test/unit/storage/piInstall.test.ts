import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { installedPiExtension, installPiExtension } from '../../../extension/storage/piInstall';
import { useScratch } from './scratch';

// The real loader, so that this breaks when its first line or its places to fill in change.
const LOADER = path.join(process.cwd(), 'extension', 'pi', 'loader.mjs');

describe('Installing the Pi extension', () => {
  const scratch = useScratch();
  const agentDir = () => path.join(scratch(), 'agent');
  const root = () => path.join(scratch(), 'a "quoted" $& root');
  const loader = () => path.join(agentDir(), 'extensions', 'strata.js');
  const bundle = (version: string) => path.join(root(), 'pi', version, 'index.cjs');

  function build(content: string): string {
    const dist = path.join(scratch(), 'dist');
    mkdirSync(path.join(dist, 'pi', 'native', 'linux-x64'), { recursive: true });
    writeFileSync(path.join(dist, 'pi', 'index.cjs'), content);
    writeFileSync(path.join(dist, 'pi', 'index.cjs.map'), '{}');
    writeFileSync(path.join(dist, 'pi', 'native', 'linux-x64', 'fs-native-extensions.node'), 'native');
    writeFileSync(path.join(dist, 'pi', 'loader.mjs'), readFileSync(LOADER));
    return dist;
  }
  const install = (version: string, content: string) =>
    installPiExtension({ agentDir: agentDir(), root: root(), version, distDir: build(content) });

  it('puts a loader into Pi’s folder that loads exactly the installed bundle', async () => {
    assert.deepEqual(await installedPiExtension(agentDir()), { state: 'missing' });
    const result = await install('1.2.3', 'module.exports = { marker: 42 };');
    assert.deepEqual(result, { state: 'installed', version: '1.2.3', loader: loader() });
    assert.deepEqual(await installedPiExtension(agentDir()), {
      state: 'installed',
      version: '1.2.3',
      bundle: bundle('1.2.3'),
      complete: true,
    });
    const text = readFileSync(loader(), 'utf8');
    assert.ok(text.includes(`const BUNDLE = ${JSON.stringify(bundle('1.2.3'))};`));
    assert.ok(!text.includes('__STRATA_'));
    assert.deepEqual(createRequire(pathToFileURL(loader()))(bundle('1.2.3')), { marker: 42 });
    assert.deepEqual(readdirSync(path.dirname(bundle('1.2.3'))).sort(), ['index.cjs', 'native']);
    assert.deepEqual(readdirSync(path.dirname(loader())), ['strata.js']);
  });

  it('changes nothing when it is there already, and replaces it when it was built anew or upgraded', async () => {
    await install('1.2.3', 'one');
    const before = statSync(bundle('1.2.3')).mtimeMs;
    assert.equal((await install('1.2.3', 'one')).state, 'unchanged');
    assert.equal(statSync(bundle('1.2.3')).mtimeMs, before);
    assert.equal((await install('1.2.3', 'two')).state, 'installed');
    assert.equal(readFileSync(bundle('1.2.3'), 'utf8'), 'two');
    assert.equal((await install('1.3.0', 'three')).state, 'installed');
    const installed = await installedPiExtension(agentDir());
    assert.ok(installed.state === 'installed' && installed.version === '1.3.0' && installed.complete);
    // A Pi that was started before still runs the old one.
    assert.ok(existsSync(bundle('1.2.3')));
  });

  for (const [what, write] of [
    ['a file of somebody else', (file: string) => writeFileSync(file, 'export default () => {};')],
    ['a symbolic link', (file: string) => symlinkSync(LOADER, file)],
    ['a folder', (file: string) => mkdirSync(file)],
  ] as const)
    it(`never touches ${what} that has the loader’s name`, async () => {
      mkdirSync(path.dirname(loader()), { recursive: true });
      write(loader());
      assert.deepEqual(await installedPiExtension(agentDir()), { state: 'foreign', file: loader() });
      const result = await install('1.2.3', 'x');
      assert.ok(result.state === 'foreign');
      assert.match(result.reason, /not written by Strata.*Move it away/s);
      assert.equal(existsSync(bundle('1.2.3')), false);
      assert.ok(existsSync(loader()));
    });
});
