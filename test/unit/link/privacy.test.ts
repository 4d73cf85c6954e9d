import assert from 'node:assert/strict';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { connectOwner } from '../../../extension/link/client';
import { findHosts, runFolder, type HostRecord } from '../../../extension/link/discovery';
import { identity, pi, until, useScratch } from './pieces';

const mode = (file: string) => (lstatSync(file).mode & 0o777).toString(8);

describe('What a window publishes', function () {
  // All of it is about users and modes.
  if (process.platform === 'win32') return;
  this.timeout(60_000);
  const scratch = useScratch();
  const root = () => path.join(scratch(), 'agent', 'strata');
  const project = () => path.join(scratch(), 'project');
  const children: ChildProcess[] = [];
  beforeEach(() => mkdirSync(project()));
  afterEach(async () => {
    for (const child of children.splice(0)) {
      child.kill('SIGKILL');
      await once(child, 'close');
    }
  });

  /** A window in a process of its own, started under this umask and temp folder. */
  async function start(umask: string, tmp: string): Promise<{ file: string; record: HostRecord }> {
    const program = path.join(__dirname, 'host.child.cjs');
    const args = [
      '-c',
      `umask ${umask}; exec "$@"`,
      'sh',
      process.execPath,
      program,
      'serve',
      root(),
      project(),
    ];
    const child = spawn('sh', args, {
      env: { ...process.env, TMPDIR: tmp },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await until('the window listens', () => said.includes('listening'), 20_000);
    const [name = ''] = readdirSync(runFolder(root()));
    const file = path.join(runFolder(root()), name);
    return { file, record: JSON.parse(readFileSync(file, 'utf8')) as HostRecord };
  }
  const join = () => connectOwner({ root: root(), session: identity(project()), pi, timeoutMs: 5000 });

  for (const umask of ['000', '077', '022'])
    it(`can be read and entered by this user only, under umask ${umask}`, async () => {
      const tmp = path.join(scratch(), 'tmp');
      const { file, record } = await start(umask, tmp);
      assert.ok(record.socket.startsWith(tmp));
      assert.deepEqual([mode(record.socket), mode(path.dirname(record.socket))], ['600', '700']);
      assert.deepEqual([mode(file), mode(path.dirname(file))], ['600', '700']);
      assert.equal(Number.parseInt(mode(root()), 8) & 0o022, 0);
      (await join()).dispose();
    });

  it('has a short socket path whatever the temp folder is called', async () => {
    const tmp = path.join(scratch(), 'x'.repeat(200 - scratch().length - 1));
    assert.equal(tmp.length, 200);
    mkdirSync(tmp);
    const { record } = await start('022', tmp);
    assert.ok(Buffer.byteLength(record.socket) <= 103, record.socket);
    assert.deepEqual([mode(record.socket), mode(path.dirname(record.socket))], ['600', '700']);
    (await join()).dispose();
  });

  for (const [what, put] of [
    ['a link to elsewhere', (at: string) => symlinkSync(path.join(scratch(), 'elsewhere'), at)],
    ['open to others', (at: string) => (mkdirSync(at), chmodSync(at, 0o777))],
    ['a file', (at: string) => writeFileSync(at, '')],
  ] as const)
    it(`is not put into a folder in the temp folder that is ${what}`, async () => {
      const tmp = path.join(scratch(), 'tmp');
      mkdirSync(tmp);
      mkdirSync(path.join(scratch(), 'elsewhere'), { mode: 0o777 });
      put(path.join(tmp, `strata-${process.getuid?.()}`));
      const { record } = await start('022', tmp);
      assert.ok(!record.socket.startsWith(tmp), record.socket);
      assert.deepEqual(readdirSync(path.join(scratch(), 'elsewhere')), []);
    });

  it('is found among 2,000 files that are not what they are called, which hold up nobody', async () => {
    const { file, record } = await start('022', path.join(scratch(), 'tmp'));
    const later = { ...record, startedAt: record.startedAt + 10_000 };
    const put = (name: string, text: string) =>
      writeFileSync(path.join(runFolder(root()), `host-1-${name}.json`), text, { mode: 0o600 });
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    put('a0', deep);
    put('a1', JSON.stringify({ ...later, folders: JSON.parse(deep.slice(99_000, 101_000)) as unknown }));
    put('a2', `{"__proto__":${JSON.stringify(later)}}`);
    put('a3', JSON.stringify({ ...later, pid: -1 }));
    put('a4', JSON.stringify(later).replace(/"pid":\d+/, '"pid":1e400'));
    put('a5', JSON.stringify({ ...later, socket: `${record.socket}\0x` }));
    put('a6', JSON.stringify({ ...later, folders: Array.from({ length: 2000 }, () => '/a') }));
    put('a7', JSON.stringify([later]));
    put('a8', `\uFEFF${JSON.stringify(later)}`);
    put('a9', JSON.stringify({ ...later, padding: 'x'.repeat(300_000) }));
    for (let i = 0; i < 2000; i++) put(`b${i.toString(16).padStart(4, '0')}`, i % 2 ? '' : '{}');
    execFileSync('mkfifo', [path.join(runFolder(root()), 'host-1-c0.json')]);
    const found = await findHosts(root(), project());
    assert.deepEqual(
      found.map(host => host.file),
      [file],
    );
    const link = await join();
    assert.equal(link.host.pid, record.pid);
    link.dispose();
  });

  // Only root can make a file that belongs to somebody else.
  if (process.getuid?.() === 0)
    it('is not believed when another user wrote it', async () => {
      const { file, record } = await start('022', path.join(scratch(), 'tmp'));
      const foreign = path.join(runFolder(root()), 'host-1-f0.json');
      writeFileSync(foreign, JSON.stringify({ ...record, startedAt: record.startedAt + 10_000 }));
      chmodSync(foreign, 0o600);
      const found = async () => (await findHosts(root(), project())).map(host => host.file);
      assert.deepEqual(await found(), [foreign, file]);
      chownSync(foreign, 65_534, 65_534);
      assert.deepEqual(await found(), [file]);
    });

  it('leads a Pi to nobody when the address in it is a file, a folder or a stranger', async () => {
    const { file, record } = await start('022', path.join(scratch(), 'tmp'));
    const plain = path.join(scratch(), 'plain');
    writeFileSync(plain, 'no socket');
    for (const socket of [plain, scratch(), path.join(scratch(), 'nothing')]) {
      const put = path.join(runFolder(root()), 'host-1-a0.json');
      const written = JSON.stringify({ ...record, socket, startedAt: record.startedAt + 10_000 });
      writeFileSync(put, written, { mode: 0o600 });
      assert.equal((await findHosts(root(), project()))[0]?.file, put);
      const link = await join();
      await link.open();
      assert.equal(link.host.pid, record.pid);
      link.dispose();
    }
    assert.equal(readFileSync(plain, 'utf8'), 'no socket');
    assert.ok(lstatSync(file).isFile());
  });
});
