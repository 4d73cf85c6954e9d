import assert from 'node:assert/strict';
import { copyFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { SessionId } from '../../../extension/archive/ids';
import { connectOwner } from '../../../extension/link/client';
import { findHosts, findServer, runFolder, type RunRecord } from '../../../extension/link/discovery';
import { LinkError } from '../../../extension/link/protocol';
import { startLinkServer, type LinkServer } from '../../../extension/link/server';
import { aLog, anOwner, identity, pi, useScratch } from './pieces';

describe('A Pi that owns its session', function () {
  this.timeout(20_000);
  const servers: LinkServer[] = [];
  afterEach(() => Promise.all(servers.splice(0).map(server => server.dispose())));
  const scratch = useScratch();
  const root = () => path.join(scratch(), 'root');

  async function own(sessionId: string): Promise<LinkServer> {
    const server = await startLinkServer({
      root: root(),
      folders: [],
      session: { sessionId: sessionId as SessionId, cwd: scratch() },
      accept: async () => anOwner({ status: async () => ({ owner: 'a Pi' }) }),
      log: aLog(),
      name: 'Pi',
    });
    servers.push(server);
    return server;
  }

  it('is found by the file that the lock names, never as the window of a folder', async () => {
    const { runFile } = await own('mine');
    const record = JSON.parse(readFileSync(runFile, 'utf8')) as RunRecord;
    assert.equal(record.kind, 'pi');
    assert.deepEqual(record.session, { sessionId: 'mine', cwd: scratch() });
    assert.deepEqual(await findHosts(root(), scratch()), []);
    assert.deepEqual((await findServer(root(), runFile))?.record, record);
    const only = await findServer(root(), runFile);
    const link = await connectOwner({
      root: root(),
      session: identity(scratch(), 'mine'),
      pi,
      timeoutMs: 5000,
      only,
    });
    assert.equal(link.host.name, 'Pi');
    assert.deepEqual(await link.status(), { owner: 'a Pi' });
    link.dispose();
  });

  it('serves that session alone', async () => {
    const only = await findServer(root(), (await own('mine')).runFile);
    for (const session of [identity(scratch(), 'another'), identity(path.join(scratch(), 'sub'), 'mine')])
      await assert.rejects(
        connectOwner({ root: root(), session, pi, timeoutMs: 5000, only }),
        (e: unknown) =>
          e instanceof LinkError && e.code === 'invalid' && /another session now/.test(e.message),
      );
  });

  it('is not looked for outside the folder of run files, nor once it has ended', async () => {
    const server = await own('mine');
    const elsewhere = path.join(scratch(), 'pi-1-aa.json');
    copyFileSync(server.runFile, elsewhere);
    assert.equal(await findServer(root(), elsewhere), undefined);
    assert.equal(
      await findServer(root(), path.join(runFolder(root()), '..', '..', 'pi-1-aa.json')),
      undefined,
    );
    assert.equal(await findServer(root(), 'no path at all'), undefined);
    await server.dispose();
    servers.length = 0;
    assert.equal(await findServer(root(), server.runFile), undefined);
  });
});
