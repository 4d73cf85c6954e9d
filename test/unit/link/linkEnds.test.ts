import assert from 'node:assert/strict';
import { ROOT_CHAIN } from '../../../extension/archive/ids';
import { LinkError, type LinkErrorCode } from '../../../extension/link/protocol';
import { anOwner, APPEND, pause, PREPARE, until } from './pieces';
import { is, never, useLink } from './useLink';

describe('The end of a request over the link', function () {
  this.timeout(20_000);
  const { log, serve, join } = useLink();

  it('tells Pi what an error means, and a surprise as a failure of the archive', async () => {
    const codes: LinkErrorCode[] = ['archive', 'locked', 'prepare', 'invalid', 'cancelled', 'off'];
    const errors: Error[] = codes.map(code => new LinkError(code, `about ${code}`));
    await serve(() => anOwner({ status: () => Promise.reject(errors.shift() ?? new TypeError('a defect')) }));
    const owner = await join();
    for (const code of codes) await assert.rejects(owner.status(), is(code, new RegExp(`^about ${code}$`)));
    await assert.rejects(owner.status(), is('archive', /a defect/));
    assert.ok(log.lines.some(l => l.includes('a defect')));
  });

  it('releases an owner once when its connection ends, and stops what it was doing for it', async () => {
    let released = 0;
    let fired = 0;
    await serve(() =>
      anOwner({
        release: async () => void released++,
        prepare: (_, __, signal) => {
          signal.addEventListener('abort', () => fired++);
          return never();
        },
      }),
    );
    const owner = await join();
    const preparing = owner.prepare(PREPARE, () => undefined, new AbortController().signal);
    await pause(50);
    owner.dispose();
    await assert.rejects(preparing, is('lost'));
    await until('the owner is released', () => released === 1 && fired === 1);
    await owner.closed;
    await assert.rejects(owner.append(APPEND), is('lost'));
    await pause(50);
    assert.equal(released, 1);
  });

  it('rejects what is pending when the server goes, after every owner was released', async () => {
    let released = false;
    const server = await serve(() =>
      anOwner({
        append: never,
        release: async () => {
          await pause(50);
          released = true;
        },
      }),
    );
    const owner = await join();
    const pending = owner.append(APPEND);
    await pause(20);
    await Promise.all([assert.rejects(pending, is('lost')), server.dispose()]);
    assert.ok(released);
    await owner.closed;
  });

  it('does not pass on answers that are not what was asked for', async () => {
    const wrong = async () => ({ records: 'many' }) as never;
    await serve(() =>
      anOwner({
        open: wrong,
        bind: wrong,
        status: async () => [] as never,
        prepare: async ({ turn }) => ({
          turn,
          records: 1,
          blocks: ['abc'],
          bytes: 4,
          sha256: 'f'.repeat(64),
        }),
      }),
    );
    const owner = await join();
    await assert.rejects(owner.open(), is('invalid'));
    await assert.rejects(owner.bind({ after: ROOT_CHAIN, sources: [] }), is('invalid'));
    await assert.rejects(owner.status(), is('invalid'));
    await assert.rejects(
      owner.prepare(PREPARE, () => undefined, new AbortController().signal),
      is('invalid'),
    );
  });

  it('refuses requests that are not well formed, and goes on', async () => {
    let calls = 0;
    await serve(() => anOwner({ append: async () => void calls++, zoom: async () => ({ calls: calls++ }) }));
    const owner = await join();
    await assert.rejects(owner.append({} as never), is('invalid'));
    await assert.rejects(owner.zoom({ start: -1, count: 1, offset: 0 }), is('invalid'));
    await assert.rejects(owner.bind({ after: 'z' as never, sources: [] }), is('invalid'));
    assert.equal(calls, 0);
    await owner.append(APPEND);
    assert.equal(calls, 1);
  });

  it('says why a session was refused', async () => {
    await serve(() => {
      throw new LinkError('off', 'This window is not trusted.');
    });
    await assert.rejects(join(), is('invalid', /not trusted/));
  });
});
