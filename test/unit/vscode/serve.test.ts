import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { connectOwner, type OwnerLink } from '../../../extension/link/client';
import { startHost, type Host } from '../../../extension/vscode/serve';
import { aLog, APPEND, identity, pi, useScratch } from '../link/pieces';

describe('a window that serves sessions', function () {
  this.timeout(20_000);
  const links: OwnerLink[] = [];
  let served: Host | undefined;
  let memory = true;

  beforeEach(() => (memory = true));
  afterEach(async () => {
    for (const link of links.splice(0)) link.dispose();
    await served?.dispose();
    served = undefined;
  });

  // After the hook above, so that nothing writes any more when the folder goes.
  const scratch = useScratch();
  const root = () => path.join(scratch(), 'root');
  const folder = (name: string) => {
    const dir = path.join(scratch(), name);
    fs.mkdirSync(dir, { recursive: true });
    return dir;
  };
  const serve = async () =>
    (served = await startHost({
      root: root(),
      folders: [folder('one')],
      memoryDefault: () => memory,
      log: aLog(),
    }));
  const join = async (cwd: string, id: string) => {
    const owner = await connectOwner({ root: root(), session: identity(cwd, id), pi, timeoutMs: 5000 });
    links.push(owner);
    return owner;
  };
  const isClosed = (link: OwnerLink) =>
    Promise.race([link.closed.then(() => true), new Promise(next => setTimeout(next, 50, false))]);
  const next = (ordinal: number) => ({ ...APPEND, capture: { ...APPEND.capture, ordinal } });

  it('keeps a session connected and writing while folders and the memory default change', async () => {
    const host = await serve();
    const running = await join(folder('one'), 's1');
    const before = await running.open();
    assert.equal(before.memory, true);
    await running.append(next(0));
    const archive = host.sessions()[0]?.archive;
    assert.equal(archive?.state.orphans, 1);

    memory = false;
    await host.setFolders([folder('one'), folder('two')]);
    await host.setFolders([folder('two')]);

    assert.equal(await isClosed(running), false);
    await running.append(next(1));
    assert.equal(host.sessions()[0]?.archive, archive, 'the same archive, never closed');
    assert.equal(archive.state.orphans, 2);
    assert.equal((await running.status())['memory'], true, 'what it was opened with');
  });

  it('leaves memory as it was when a session began, whatever the default is when it is opened again', async () => {
    const host = await serve();
    const first = await join(folder('one'), 's1');
    assert.equal((await first.open()).memory, true);
    first.dispose();
    while (host.sessions().length > 0) await new Promise(resolve => setTimeout(resolve, 10));
    memory = false;
    assert.equal((await (await join(folder('one'), 's1')).open()).memory, true);
    assert.equal((await (await join(folder('one'), 's2')).open()).memory, false);
  });

  it('lets the sessions of a new folder in, under the memory default of that moment', async () => {
    const host = await serve();
    const two = folder('two');
    await assert.rejects(join(two, 's2'), /No VS Code window/);
    memory = false;
    await host.setFolders([folder('one'), two]);
    assert.equal((await (await join(two, 's2')).open()).memory, false);
    memory = true;
    assert.equal((await (await join(two, 's3')).open()).memory, true);
    assert.equal(host.sessions().length, 2);
  });

  it('lets nobody new into a folder that was closed, and takes folders again after it had none', async () => {
    const host = await serve();
    const running = await join(folder('one'), 's1');
    await running.open();
    await host.setFolders([]);
    await assert.rejects(join(folder('one'), 's2'), /No VS Code window/);
    assert.equal(await isClosed(running), false);
    await host.setFolders([folder('one')]);
    await (await join(folder('one'), 's2')).open();
  });
});
