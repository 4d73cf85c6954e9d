import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { connectOwner } from '../../../extension/link/client';
import { findHosts, isWithin, runFolder, type HostRecord } from '../../../extension/link/discovery';
import { LinkError } from '../../../extension/link/protocol';
import { startLinkServer, type LinkServer } from '../../../extension/link/server';
import { aLog, anOwner, APPEND, identity, pause, pi, until, useScratch } from './pieces';

describe('Finding the window of a folder', function () {
  this.timeout(60_000);
  const scratch = useScratch();
  const root = () => path.join(scratch(), 'root');
  const servers: LinkServer[] = [];
  const children: ChildProcess[] = [];
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await Promise.all(servers.splice(0).map(s => s.dispose()));
  });

  function folder(name: string): string {
    const dir = path.join(scratch(), name);
    mkdirSync(dir, { recursive: true });
    return dir;
  }
  async function serve(name: string, ...folders: string[]): Promise<LinkServer> {
    const accept = async () => anOwner({ status: async () => ({ name }) });
    const server = await startLinkServer({ root: root(), folders, accept, log: aLog(), name });
    servers.push(server);
    return server;
  }
  async function hostChild(dir: string): Promise<{ child: ChildProcess; said: () => string }> {
    const program = path.join(__dirname, 'host.child.cjs');
    const child = spawn(process.execPath, [program, 'serve', root(), dir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await until('the host listens', () => said.includes('listening'), 20_000);
    return { child, said: () => said };
  }
  async function kill(child: ChildProcess): Promise<void> {
    assert.ok(child.pid !== undefined && child.exitCode === null && process.kill(child.pid, 0));
    child.kill('SIGKILL');
    await once(child, 'close');
  }
  const join = (cwd: string, timeoutMs = 5000, prefer?: string) =>
    connectOwner({ root: root(), session: identity(cwd), pi, timeoutMs, prefer });
  async function nameFor(cwd: string, prefer?: string): Promise<string> {
    const link = await join(cwd, 5000, prefer);
    link.dispose();
    return link.host.name;
  }
  const lost = (text: RegExp) => (e: unknown) =>
    e instanceof LinkError && e.code === 'lost' && text.test(e.message);
  const record = (server: LinkServer) => JSON.parse(readFileSync(server.runFile, 'utf8')) as HostRecord;

  it('takes the innermost folder, then the newest window, or the one that is preferred', async () => {
    const outer = folder('a');
    const inner = folder('a/b');
    const first = await serve('inner, older', inner);
    await pause(5);
    await serve('inner, newer', inner);
    await pause(5);
    await serve('outer', outer);
    await serve('elsewhere', folder('c'));
    assert.equal(await nameFor(path.join(inner, 'deep')), 'inner, newer');
    assert.equal(await nameFor(inner, first.runFile), 'inner, older');
    assert.equal(await nameFor(outer), 'outer');
    assert.equal(await nameFor(folder('a/bc')), 'outer');
    await assert.rejects(join(folder('d')), lost(/No VS Code window.*Open that folder/s));
  });

  it('compares real paths', async () => {
    const real = folder('real');
    symlinkSync(real, path.join(scratch(), 'link'));
    const server = await serve('linked', path.join(scratch(), 'link'));
    assert.deepEqual(record(server).folders, [real]);
    assert.equal(await nameFor(real), 'linked');
  });

  it('passes over a window that was killed, and the next one to start clears up behind it', async () => {
    const dir = folder('a');
    await serve('outer', scratch());
    const { child } = await hostChild(dir);
    const left =
      readdirSync(runFolder(root())).find(f => f.startsWith(`host-${child.pid}-`)) ?? assert.fail();
    const { socket } = JSON.parse(readFileSync(path.join(runFolder(root()), left), 'utf8')) as HostRecord;
    await kill(child);
    assert.ok(existsSync(path.join(runFolder(root()), left)) && existsSync(socket));
    assert.equal(await nameFor(dir), 'outer');
    await serve('another', dir);
    assert.ok(!existsSync(path.join(runFolder(root()), left)) && !existsSync(socket));
  });

  it('passes over a window that was stopped, within the time for all', async () => {
    const dir = folder('a');
    await serve('outer', scratch());
    const { child } = await hostChild(dir);
    child.kill('SIGSTOP');
    const start = performance.now();
    assert.equal(await nameFor(dir), 'outer');
    assert.ok(performance.now() - start < 5000);
    await servers.pop()?.dispose();
    await assert.rejects(join(dir, 700), lost(/does not answer. Reload/));
  });

  it('rejects what is pending within a second when the window is killed', async () => {
    const { child, said } = await hostChild(folder('a'));
    const link = await join(folder('a'));
    const pending = link.append(APPEND);
    const settled = pending.then(
      () => assert.fail('acknowledged by nobody'),
      (e: unknown) => ({ e, at: performance.now() }),
    );
    await until('the append arrived', () => said().includes('append'));
    const start = performance.now();
    await kill(child);
    const { e, at } = await settled;
    assert.ok(e instanceof LinkError && e.code === 'lost');
    assert.ok(at - start < 1000, `after ${at - start} ms`);
    await link.closed;
  });

  it('ignores run files that are foreign, malformed, of another machine or of another start of it', async () => {
    const dir = folder('a');
    const server = await serve('good', dir);
    const good = record(server);
    const put = (name: string, value: unknown, mode = 0o600) => {
      const file = path.join(runFolder(root()), name);
      writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
      chmodSync(file, mode);
    };
    const later = { ...good, startedAt: good.startedAt + 10_000 };
    put('host-1-aa.json', '{"kind":"host"');
    put('host-1-ab.json', { ...later, token: 'short' });
    put('host-1-ac.json', { ...later, bootId: 'another start' });
    put('host-1-ad.json', { ...later, host: 'another machine' });
    put('host-1-ae.json', { ...later, socket: 'relative.sock' });
    put('host-1-af.json', 'x'.repeat(300_000));
    put('host-1-ba.json', { ...later, folders: 'not a list' });
    put('other-1-bb.json', later);
    mkdirSync(path.join(runFolder(root()), 'host-1-bc.json'));
    if (process.platform !== 'win32') {
      put('host-1-bd.json', later, 0o644);
      put('elsewhere', later);
      symlinkSync('elsewhere', path.join(runFolder(root()), 'host-1-be.json'));
    }
    const found = await findHosts(root(), dir);
    assert.deepEqual(
      found.map(f => f.file),
      [server.runFile],
    );
    assert.equal(await nameFor(dir), 'good');
    // Clearing up takes only what is surely dead: none of these are a dead process's own.
    await serve('another', dir);
    assert.ok(existsSync(path.join(runFolder(root()), 'host-1-ad.json')));
  });

  it('leaves nothing behind when the window is closed', async () => {
    const server = await serve('a', folder('a'));
    const { socket } = record(server);
    await server.dispose();
    servers.length = 0;
    assert.deepEqual(readdirSync(runFolder(root())), []);
    assert.ok(!existsSync(socket));
  });

  it('is refused where others could put files of their own', async () => {
    if (process.platform === 'win32') return;
    mkdirSync(runFolder(root()), { recursive: true });
    chmodSync(runFolder(root()), 0o777);
    await assert.rejects(serve('a', folder('a')), /can be used by other users/);
  });
});

describe('A folder', () => {
  it('holds itself and what lies in it, never a sibling with a longer name', () => {
    for (const [outer, inner, expected] of [
      ['/a', '/a', true],
      ['/a', '/a/b/c', true],
      ['/a', '/ab', false],
      ['/a/b', '/a', false],
      ['/a', '/a/..b', true],
      ['/a/b', '/a/../a/c', false],
      ['/', '/a', true],
    ] as const)
      assert.equal(isWithin(outer, inner), expected, `${inner} in ${outer}`);
  });
});
