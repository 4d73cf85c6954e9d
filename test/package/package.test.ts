import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { runHostTests } from '../../scripts/hostTests.mjs';

const PLATFORMS = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', 'win32-arm64', 'win32-x64'];

/** The names in a zip file's directory, which stands at its end. */
function zipEntries(file: string): { readonly name: string; readonly size: number }[] {
  const bytes = fs.readFileSync(file);
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  assert.ok(end >= 0, 'it is a zip file');
  const entries = [];
  let at = bytes.readUInt32LE(end + 16);
  for (let count = bytes.readUInt16LE(end + 10); count > 0; count--) {
    const nameLength = bytes.readUInt16LE(at + 28);
    const name = bytes.toString('utf8', at + 46, at + 46 + nameLength);
    entries.push({ name, size: bytes.readUInt32LE(at + 24) });
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return entries;
}

describe('the packaged extension', () => {
  let folder: string;
  let vsix: string;
  before(function () {
    this.timeout(120_000);
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'strata-package-'));
    vsix = path.join(folder, 'strata.vsix');
    const run = spawnSync(process.execPath, ['scripts/package.mjs', '--out', vsix], { encoding: 'utf8' });
    assert.equal(run.status, 0, run.stdout + run.stderr);
    assert.match(run.stdout, /strata\.vsix: \d+ KiB/);
  });
  after(() => fs.rmSync(folder, { recursive: true }));

  it('holds exactly what runs, what is read, and the licences', () => {
    const media = fs.readdirSync('media').map(name => `extension/media/${name}`);
    const natives = PLATFORMS.flatMap(platform =>
      ['dist', 'dist/pi'].map(at => `extension/${at}/native/${platform}/fs-native-extensions.node`),
    );
    const expected = [
      '[Content_Types].xml',
      'extension.vsixmanifest',
      'extension/package.json',
      // vsce gives these three names of its own.
      'extension/readme.md',
      'extension/changelog.md',
      'extension/LICENSE.txt',
      'extension/dist/THIRD_PARTY.txt',
      'extension/dist/cli.mjs',
      'extension/dist/extension.js',
      'extension/dist/pi/index.cjs',
      'extension/dist/pi/loader.mjs',
      ...media,
      ...natives,
    ];
    const entries = zipEntries(vsix);
    assert.deepEqual(entries.map(({ name }) => name).sort(), expected.sort());
    assert.deepEqual(
      entries.filter(({ size }) => size === 0),
      [],
    );
  });

  it('stays small enough to start fast: no runtime of Pi, no test, no toolkit slipped in', () => {
    for (const { name, size } of zipEntries(vsix))
      if (/\.(js|cjs|mjs)$/.test(name)) assert.ok(size < 600_000, `${name} has ${size} bytes`);
  });

  it('names every package it contains, with its licence', () => {
    const out = path.join(folder, 'dist');
    const run = spawnSync(process.execPath, ['esbuild.mjs', '--production', '--out', out], {
      encoding: 'utf8',
    });
    assert.equal(run.status, 0, run.stderr);
    const notice = fs.readFileSync(path.join(out, 'THIRD_PARTY.txt'), 'utf8');
    const named = [...notice.matchAll(/^={80}\n(\S+) (\S+) \((\S+)\)\n={80}$/gm)].map(match => match[1]);
    for (const name of [
      'fs-native-extensions',
      'require-addon',
      'which-runtime',
      'vscode-jsonrpc',
      'chokidar',
    ])
      assert.ok(named.includes(name), `${name} is named`);
    assert.match(notice, /Apache License\s+Version 2\.0/);
  });

  it('installs in VS Code, activates, and has its commands', async () => {
    // Tests need an extension that brings them; the one under test is the installed one.
    const carrier = path.join(folder, 'carrier');
    fs.mkdirSync(carrier);
    const manifest = {
      name: 'carrier',
      publisher: 'test',
      version: '0.0.1',
      engines: { vscode: '^1.100.0' },
    };
    fs.writeFileSync(path.join(carrier, 'package.json'), JSON.stringify(manifest));
    const smoke = path.resolve('out/test/package/smoke.child.cjs');
    const outcome = await runHostTests({
      version: '4.139.1',
      files: [smoke],
      dev: carrier,
      vsix: [vsix],
      timeout: 90_000,
    });
    assert.deepEqual(outcome.problems, [], outcome.log);
    assert.deepEqual(
      outcome.tests.map(({ title, state, error }) => ({ title, state, error })),
      [
        {
          title: 'the installed extension activates and registers every command it declares',
          state: 'passed',
          error: undefined,
        },
      ],
    );
  });
});
