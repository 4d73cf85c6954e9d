import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { archiveIdFor } from '../../extension/archive/canonical';
import type { SessionId } from '../../extension/archive/ids';
import { archiveDir } from '../../extension/storage/archiveFolder';
import { atExit } from '../../scripts/processes.mjs';
import { ROOT } from '../../scripts/tools.mjs';
import type { Sandbox } from './pi';

/** Another process that owns an archive, and can be asked nothing, until it is killed. */
export async function lockedBy(archive: string): Promise<{ pid: number; kill(): Promise<void> }> {
  const program = path.join(ROOT, 'out/test/unit/storage/lock.child.cjs');
  const child = spawn(process.execPath, [program, 'hold', path.join(archive, 'lock')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const forget = atExit(() => void child.kill('SIGKILL'));
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  assert.equal(said.toString(), 'held\n');
  return {
    pid: child.pid ?? assert.fail(),
    kill: async () => {
      assert.equal(child.exitCode, null, 'the lock’s holder was not running');
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      forget();
    },
  };
}

/** The archive folder of a session that `--session-id` names and that has not begun yet. */
export function archiveToBe(box: Sandbox, session: string): string {
  const dir = archiveDir(box.root, archiveIdFor(box.project, session as SessionId));
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  return dir;
}
