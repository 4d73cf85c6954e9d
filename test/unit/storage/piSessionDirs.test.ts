import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { piSettingsFiles, sessionDirs } from '../../../extension/storage/piSessionDirs';
import { listSessions } from '../../../extension/storage/sessionsOnDisk';
import { useScratch } from './scratch';

describe('The folders in which Pi keeps sessions', () => {
  const scratch = useScratch();
  const at = (...names: string[]) => path.join(scratch(), ...names);

  function settings(folder: string, text: string): void {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'settings.json'), text);
  }
  const say = (sessionDir: unknown) => JSON.stringify({ theme: 'dark', sessionDir });
  const dirs = (over: Partial<Parameters<typeof sessionDirs>[0]> = {}) =>
    sessionDirs({ agentDir: at('agent'), folders: [at('a'), at('b')], trusted: true, env: {}, ...over });

  it('are none beside its own when nobody says so', async () => {
    assert.deepEqual(await dirs(), []);
    settings(at('agent'), '{}');
    assert.deepEqual(await dirs(), []);
  });

  it('come from the environment, the settings of the person and those of each folder, all at once', async () => {
    settings(at('agent'), say(at('everywhere')));
    settings(at('a', '.pi'), say(at('of-a')));
    const env = { PI_CODING_AGENT_SESSION_DIR: at('env') };
    assert.deepEqual(await dirs({ env }), [at('env'), at('everywhere'), at('of-a')]);
    assert.deepEqual(piSettingsFiles({ agentDir: at('agent'), folders: [at('a')], trusted: true }), [
      at('agent', 'settings.json'),
      at('a', '.pi', 'settings.json'),
    ]);
  });

  it('may be written as Pi takes them: with ~, as a file address, or below the folder it runs in', async () => {
    settings(at('agent'), `\uFEFF${say('.sessions')}`);
    assert.deepEqual(await dirs(), [at('a', '.sessions'), at('b', '.sessions')]);
    settings(at('agent'), say('~/somewhere'));
    assert.deepEqual(await dirs(), [path.join(os.homedir(), 'somewhere')]);
    settings(at('agent'), say(pathToFileURL(at('by address')).href));
    assert.deepEqual(await dirs(), [at('by address')]);
  });

  it('are not chosen by a folder that is not trusted', async () => {
    settings(at('agent'), say(at('everywhere')));
    settings(at('a', '.pi'), say('/'));
    assert.deepEqual(await dirs({ trusted: false }), [at('everywhere')]);
    assert.deepEqual(piSettingsFiles({ agentDir: at('agent'), folders: [at('a')], trusted: false }), [
      at('agent', 'settings.json'),
    ]);
  });

  it('stay as they are when settings are broken, huge, no file or say something else', async () => {
    settings(at('a', '.pi'), say(at('of-a')));
    for (const text of [
      '',
      '{"sessionDir":',
      '[]',
      'null',
      say(7),
      say(''),
      say(['/x']),
      say('/x\0y'),
      say('file://%'),
      `{"sessionDir":"/x","padding":"${'x'.repeat(1024 * 1024)}"}`,
    ]) {
      settings(at('agent'), text);
      assert.deepEqual(await dirs(), [at('of-a')], text.slice(0, 40));
    }
    rmSync(at('agent', 'settings.json'));
    mkdirSync(at('agent', 'settings.json'));
    assert.deepEqual(await dirs(), [at('of-a')]);
    if (process.platform === 'win32') return;
    rmSync(at('agent', 'settings.json'), { recursive: true });
    execFileSync('mkfifo', [at('agent', 'settings.json')]);
    assert.deepEqual(await dirs(), [at('of-a')]);
  });

  it('are searched flat, and their sessions belong where their headers say', async () => {
    settings(at('agent'), say('.sessions'));
    mkdirSync(at('a', '.sessions'), { recursive: true });
    const header = (id: string, cwd: string) =>
      `${JSON.stringify({ type: 'session', version: 3, id, cwd })}\n`;
    writeFileSync(at('a', '.sessions', '1.jsonl'), header('of-a', at('a')));
    writeFileSync(at('a', '.sessions', '2.jsonl'), header('of-b', at('b')));
    const found = await listSessions({
      agentDir: at('agent'),
      sessionDirs: await dirs({ folders: [at('a')] }),
      folders: [at('a')],
    });
    assert.deepEqual(
      found.map(one => one.state === 'ok' && one.sessionId),
      ['of-a'],
    );
  });
});
