import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { connectOwner } from '../../../extension/link/client';
import { describeServer, newRunFile, runFolder } from '../../../extension/link/discovery';
import { PROTOCOL_VERSION } from '../../../extension/link/protocol';
import { versionMismatch } from '../../../extension/link/version';
import { frame, helloFrame, identity, pi, until } from './pieces';
import { is } from './useLink';
import { useStranger } from './useStranger';

const INSTALL_IN_PI = /version 1 .* version 3\. Run "Strata: Install Pi Extension" in VS Code/;
const UPDATE_VS_CODE = /Update Strata in VS Code and reload the window/;

describe('Versions of the link', function () {
  this.timeout(20_000);
  const { raw, record, root, calls } = useStranger();
  const hosts: Server[] = [];
  afterEach(() => {
    for (const host of hosts.splice(0)) host.close();
  });

  /** A window of another build: all it does is to answer a hello with `reply`. */
  async function anotherHost(folder: string, reply: object): Promise<void> {
    const address = path.join(root(), 'h.sock');
    const host = createServer(socket => {
      socket.once('data', () => socket.write(frame({ jsonrpc: '2.0', id: 0, result: reply })));
      socket.on('error', () => undefined);
    });
    hosts.push(host);
    await new Promise<void>(resolve => host.listen(address, resolve));
    mkdirSync(runFolder(root()), { recursive: true });
    const described = await describeServer(address, 'a'.repeat(64), { folders: [folder] }, 0);
    writeFileSync(newRunFile(root(), 'host'), JSON.stringify(described), { mode: 0o600 });
  }
  /** A folder that the window of this build does not serve: it would be asked next. */
  const outside = (name: string) => `${root()}-${name}`;
  const join = (cwd: string) => connectOwner({ root: root(), session: identity(cwd), pi, timeoutMs: 5000 });

  it('a window takes a Pi that is one version older, equal, or one newer, and speaks the older one', async () => {
    for (const version of [PROTOCOL_VERSION - 1, PROTOCOL_VERSION, PROTOCOL_VERSION + 1]) {
      const connection = raw();
      connection.send(helloFrame(record().token, root(), version));
      const spoken = `"version":${Math.min(version, PROTOCOL_VERSION)}`;
      await until('it is let in', () => connection.received.includes('"ok":true'));
      assert.ok(connection.received.includes(spoken), connection.received);
    }
  });

  it('a window tells a Pi that is too new to update VS Code, and closes', async () => {
    const connection = raw();
    connection.send(helloFrame(record().token, root(), PROTOCOL_VERSION + 2));
    await until('it is refused', () => connection.received.includes('"ok":false'));
    assert.match(connection.received, UPDATE_VS_CODE);
    assert.deepEqual(calls(), []);
    await connection.closedWithin(5000);
  });

  it('a Pi takes a window that is one version older or newer', async () => {
    for (const version of [PROTOCOL_VERSION - 1, PROTOCOL_VERSION, PROTOCOL_VERSION + 1]) {
      const folder = outside(String(version));
      await anotherHost(folder, { ok: true, version, host: { pid: 7, name: 'another' } });
      const link = await join(folder);
      assert.deepEqual(link.host, { pid: 7, name: 'another' });
      link.dispose();
      await new Promise(resolve => hosts.pop()?.close(resolve));
    }
  });

  it('a Pi names the side to update when the window is too far away, or says so itself', async () => {
    const host = { pid: 7, name: 'another' };
    await anotherHost(outside('newer'), { ok: true, version: PROTOCOL_VERSION + 2, host });
    await assert.rejects(join(outside('newer')), is('invalid', INSTALL_IN_PI));
    await new Promise(resolve => hosts.pop()?.close(resolve));
    await anotherHost(outside('says'), { ok: false, reason: 'Words of a later version.' });
    await assert.rejects(join(outside('says')), is('invalid', /^Words of a later version\.$/));
  });

  it('two sides more than a version apart always hear that the older one is to be updated', () => {
    for (let own = 0; own < 6; own++)
      for (let other = 0; other < 6; other++) {
        const said = versionMismatch({ pi: own, host: other });
        if (Math.abs(own - other) <= 1) assert.equal(said, undefined);
        else assert.match(said ?? '', own < other ? /Install Pi Extension/ : UPDATE_VS_CODE);
      }
  });
});
