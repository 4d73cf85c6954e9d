import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { ROOT_CHAIN, type EntryId } from '../../../extension/archive/ids';
import type { AppendRequest } from '../../../extension/archive/requests';
import { readArchive } from '../../../extension/cli/readArchive';
import { connectOwner } from '../../../extension/link/client';
import { startHost } from '../../../extension/vscode/serve';
import { aLog, identity, pi, useScratch } from '../link/pieces';

const MiB = 1024 * 1024;

describe('an original larger than a message of the link', function () {
  this.timeout(120_000);
  const scratch = useScratch();

  it('is on the disk, whole, when it is acknowledged, and is bound and read like any other', async () => {
    const root = path.join(scratch(), 'root');
    const project = path.join(scratch(), 'project');
    fs.mkdirSync(project);
    const log = aLog();
    const host = await startHost({ root, folders: [project], memoryDefault: () => true, log });
    const link = await connectOwner({ root, session: identity(project), pi, timeoutMs: 10_000 });
    try {
      const { archive } = await link.open();
      const text = `begin ${'é"\\\n'.repeat((31 * MiB) / 8)} end`;
      const request: AppendRequest = {
        capture: { marker: 'm', ordinal: 0, role: 'toolResult', toolCallId: 'c' },
        message: {
          role: 'toolResult',
          toolCallId: 'c',
          toolName: 'large',
          isError: false,
          content: [{ type: 'text', text }],
          timestamp: 1,
        },
      };
      assert.ok(JSON.stringify(request).length > 16 * MiB);
      await link.append(request);

      // A copy of what is there at this moment, as a crash would leave it.
      const dir = path.join(root, 'sessions', archive);
      const copy = path.join(scratch(), 'copy');
      fs.cpSync(dir, copy, { recursive: true });
      const kept = fs
        .readdirSync(copy, { recursive: true, withFileTypes: true })
        .filter(entry => entry.isFile())
        .reduce((sum, entry) => sum + fs.statSync(path.join(entry.parentPath, entry.name)).size, 0);
      assert.ok(kept > 20 * MiB, `${kept} bytes are kept`);
      assert.equal((await readArchive(copy)).state.orphans, 1);

      const source = { entry: 'e1' as EntryId, capture: request.capture };
      const bound = await link.bind({ after: ROOT_CHAIN, sources: [source] });
      assert.ok(bound.ok);
      const { state } = await readArchive(dir);
      const branch = state.branch(bound.chain) ?? assert.fail();
      assert.equal(branch.records, 1);
      assert.ok((await branch.raw(0)).includes(text));
      assert.deepEqual(log.lines, []);
    } finally {
      link.dispose();
      await host.dispose();
    }
  });
});
