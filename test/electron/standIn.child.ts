// Stands in for the program of a desktop VS Code: checks how it was called, then runs one test of its own through
// the very file that VS Code would load. STAND_IN says how that ends: pass, fail, or leave (without a word, code 0).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

const args = process.argv.slice(2);
const load = createRequire(__filename);

function option(name: string): string {
  const values = args.filter(arg => arg.startsWith(`--${name}=`)).map(arg => arg.slice(name.length + 3));
  assert.equal(values.length, 1, `--${name} is given once, not ${values.length} times`);
  const [value = ''] = values;
  assert.ok(
    path.isAbsolute(value) && fs.existsSync(value),
    `--${name} names something that exists: ${value}`,
  );
  return value;
}

function readJson(file: string): Record<string, unknown> {
  return JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, unknown>;
}

async function main(): Promise<void> {
  const extension = option('extensionDevelopmentPath');
  const manifest = readJson(path.join(extension, 'package.json'));
  assert.equal(manifest.name, 'strata');
  assert.ok(fs.existsSync(path.join(extension, String(manifest.main))), 'the extension is built');

  const profile = option('user-data-dir');
  assert.ok(profile.startsWith(os.tmpdir()), 'the profile is no person’s');
  assert.equal(readJson(path.join(profile, 'User/settings.json'))['telemetry.telemetryLevel'], 'off');
  assert.deepEqual(fs.readdirSync(option('extensions-dir')), []);
  assert.ok(args.includes('--disable-extensions'));
  const folders = args.filter(arg => !arg.startsWith('--'));
  assert.ok(folders.length === 1 && fs.statSync(folders[0] ?? '').isDirectory(), 'one folder is opened');

  const tests = JSON.parse(process.env.STRATA_TESTS ?? '[]') as string[];
  assert.ok(tests.length > 0, 'there are tests to run');
  for (const file of tests) assert.ok(fs.existsSync(file), `${file} exists`);
  assert.ok(fs.statSync(process.env.PI_CODING_AGENT_DIR ?? '').isDirectory(), 'Pi has a folder of its own');
  assert.ok(
    !Object.keys(process.env).some(key => key.startsWith('VSCODE_')),
    'no trace of a surrounding VS Code',
  );

  if (process.env.STAND_IN === 'leave') return;
  const own = path.join(profile, 'own.test.cjs');
  fs.writeFileSync(
    own,
    `it('${process.env.STAND_IN}es', () => { if (${process.env.STAND_IN === 'fail'}) throw new Error('as asked'); });`,
  );
  process.env.STRATA_TESTS = JSON.stringify([own]);
  const entry = load(option('extensionTestsPath')) as { run(): Promise<void> };
  await entry.run();
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
