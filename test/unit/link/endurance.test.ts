import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { getEventListeners } from 'node:events';
import { connectOwner } from '../../../extension/link/client';
import type { HostRecord } from '../../../extension/link/discovery';
import { startLinkServer } from '../../../extension/link/server';
import { anOwner, APPEND, identity, pause, pi, RawConnection, until } from './pieces';
import { is, useLink } from './useLink';

/** Sockets, pipes, timers and servers that keep this process alive, by kind. */
function handles(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  delete counts['Immediate'];
  return counts;
}

describe('A link that is used for long', function () {
  this.timeout(120_000);
  const { scratch, log, serve, join } = useLink();

  it('leaves no handle and no listener behind after 1,000 connections, however they end', async () => {
    let released = 0;
    const server = await serve(() => anOwner({ release: async () => void released++ }));
    const { socket } = JSON.parse(readFileSync(server.runFile, 'utf8')) as HostRecord;
    const life = new AbortController();
    const connect = () =>
      connectOwner({
        root: scratch(),
        session: identity(scratch()),
        pi,
        timeoutMs: 10_000,
        signal: life.signal,
      });
    await (await connect()).release();
    await until('the first one is released', () => released === 1);
    const before = handles();
    const warnings: string[] = [];
    const warn = (warning: Error) => void warnings.push(warning.message);
    process.on('warning', warn);
    for (let i = 0; i < 1000; i++) {
      if (i % 10 === 9) {
        const raw = new RawConnection(socket);
        raw.send('not a hello');
        await raw.closedWithin(10_000);
        continue;
      }
      const link = await connect();
      if (i % 3 === 0) await link.append(APPEND);
      if (i % 3 === 1) void link.append(APPEND).catch(() => undefined);
      await link.release();
    }
    await until('all are released', () => released === 901, 20_000);
    await pause(50);
    process.off('warning', warn);
    assert.deepEqual(handles(), before);
    assert.equal(getEventListeners(life.signal, 'abort').length, 0);
    assert.deepEqual(warnings, []);
    assert.ok(log.lines.length <= 2, log.lines.join('\n'));
  });

  it('takes forty sessions that start in the same moment', async () => {
    await serve(() => anOwner());
    const links = await Promise.all(Array.from({ length: 40 }, () => join({ timeoutMs: 10_000 })));
    await Promise.all(links.map(link => link.append(APPEND)));
  });

  it('is made anew after it was lost, by the same Pi, with the window that is there then', async () => {
    const seen: string[] = [];
    const start = (name: string) =>
      startLinkServer({
        root: scratch(),
        folders: [scratch()],
        accept: async () => anOwner({ append: async () => void seen.push(name) }),
        log,
        name,
      });
    const tokens = new Set<string>();
    for (const name of ['first', 'second', 'third']) {
      const server = await start(name);
      tokens.add((JSON.parse(readFileSync(server.runFile, 'utf8')) as HostRecord).token);
      const link = await join();
      assert.equal(link.host.name, name);
      await link.append(APPEND);
      await server.dispose();
      await link.closed;
      await assert.rejects(link.append(APPEND), is('lost'));
      await assert.rejects(join({ timeoutMs: 500 }), is('lost'));
    }
    assert.deepEqual(seen, ['first', 'second', 'third']);
    assert.equal(tokens.size, 3);
  });
});
