import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../scripts/tools.mjs';
import { assertNoErrors } from '../support/owner';
import { Sandbox } from '../support/pi';
import { reasonIn } from '../support/piRpc';
import { rememberedIn, storedBeforeLastTurn } from '../support/remembered';

const run = promisify(execFile);
const strata = async (...args: string[]) =>
  (await run(process.execPath, [path.join(ROOT, 'dist/cli.mjs'), ...args])).stdout;

/** The ways out of damage that docs/RECOVERY.md names, walked as a person would. */
describe('a session whose archive is damaged', () => {
  let box: Sandbox;
  let folder: string;
  let journal: string;
  let hit: Buffer;
  beforeEach(async () => {
    box = await Sandbox.make();
    await box.host();
    const pi = box.rpc();
    await pi.prompt('first ;; !say one');
    folder = box.archives[0] ?? assert.fail();
    journal = path.join(folder, 'journal-1.jsonl');
    cpSync(folder, path.join(box.dir, 'backup'), { recursive: true });
    await pi.prompt('second ;; !say two');
    await pi.close();
    hit = readFileSync(journal);
    hit.write('F', hit.indexOf('first'));
    writeFileSync(journal, hit);
    await refused();
  });
  afterEach(async () => {
    await box.close();
  });

  /** A prompt of a Pi that meets the damage, and ends. */
  async function refused(): Promise<void> {
    const before = box.turns.length;
    const pi = box.rpc('-c');
    assert.match(reasonIn(await pi.prompt('refused ;; !say no')), /damaged at byte \d+/);
    await pi.close();
    assert.equal(box.turns.length, before);
    assert.ok(readFileSync(journal).equals(hit), 'a damaged journal was written to');
  }

  async function served(): Promise<void> {
    const pi = box.rpc('-c');
    await pi.prompt('served ;; !say again');
    const remembered = rememberedIn(box.turns.at(-1));
    assert.deepEqual(remembered, storedBeforeLastTurn(box.sessionFiles[0] ?? ''));
    assert.match(remembered.join(), /first.*one.*second.*two.*refused/);
    assert.equal(box.turns.at(-1)?.historyBytes, 0);
    assertNoErrors(pi);
    await pi.close();
    assert.match(await strata('verify', folder), /No damage\.\n$/);
  }

  it('has all of it again from a backup of the folder, what came later too', async () => {
    rmSync(folder, { recursive: true });
    cpSync(path.join(box.dir, 'backup'), folder, { recursive: true });
    await served();
  });

  it('has all of it again in a new archive once the old one is moved aside, which can still be read', async () => {
    const aside = `${folder}.damaged`;
    renameSync(folder, aside);
    await served();
    assert.ok(readFileSync(path.join(aside, 'journal-1.jsonl')).equals(hit));
    assert.match(await strata('status', aside), /DAMAGED at byte/);
  });
});
