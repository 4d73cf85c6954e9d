import assert from 'node:assert/strict';
import { ROOT_CHAIN, type TurnId } from '../../../extension/archive/ids';
import type { HeldArchive } from '../../../extension/archive/heldArchives';
import type { OwnerLink } from '../../../extension/link/client';
import { LinkError, type Owner } from '../../../extension/link/protocol';
import { SessionOwner } from '../../../extension/link/sessionOwner';
import { anOwner, APPEND, ENTRY, pi, PREPARE, until } from './pieces';
import { is, useLink } from './useLink';

type Kind = Exclude<keyof Owner, 'release'>;

/** Every kind of request that a Pi makes, with a signal. */
const REQUESTS: Record<Kind, (link: OwnerLink, signal: AbortSignal) => Promise<unknown>> = {
  open: (link, signal) => link.open(signal),
  append: (link, signal) => link.append(APPEND, signal),
  bind: (link, signal) =>
    link.bind({ after: ROOT_CHAIN, sources: [{ entry: ENTRY, capture: APPEND.capture }] }, signal),
  prepare: (link, signal) => link.prepare(PREPARE, () => undefined, signal),
  settled: (link, signal) => link.settled({ turn: 't' as TurnId, requests: 1, status: 200 }, signal),
  zoom: (link, signal) => link.zoom({ start: 0, count: 1, offset: 0 }, signal),
  date: (link, signal) => link.date({ start: 0 }, signal),
  search: (link, signal) => link.search({ query: 'q', from: 0 }, signal),
  status: (link, signal) => link.status(signal),
  setMode: (link, signal) => link.setMode(true, signal),
};
const KINDS = Object.keys(REQUESTS) as Kind[];

/** Owners whose every request waits until it is cancelled, and says what happened. */
function waiting(events: string[]): Owner {
  const wait =
    (kind: Kind) =>
    (...args: readonly unknown[]) => {
      const signal = args.find(arg => arg instanceof AbortSignal);
      events.push(`${kind} begun`);
      return new Promise<never>((_, reject) =>
        signal?.addEventListener('abort', () => {
          events.push(`${kind} cancelled`);
          reject(new LinkError('cancelled', 'Nobody waits any more.'));
        }),
      );
    };
  return anOwner(Object.fromEntries(KINDS.map(kind => [kind, wait(kind)])));
}

describe('A request that nobody waits for any more', function () {
  this.timeout(20_000);
  const { serve, join } = useLink();

  for (const kind of KINDS)
    it(`is cancelled at the owner as well: ${kind}`, async () => {
      const events: string[] = [];
      await serve(() => waiting(events));
      const link = await join();
      const abort = new AbortController();
      const request = REQUESTS[kind](link, abort.signal);
      await until('it has begun', () => events.includes(`${kind} begun`));
      abort.abort();
      await assert.rejects(request, is('cancelled'));
      await until('the owner is told', () => events.length === 2);
      assert.deepEqual(events, [`${kind} begun`, `${kind} cancelled`]);
    });

  it('leaves nothing behind on either side: more of them than may wait at once can follow', async () => {
    const events: string[] = [];
    await serve(() => waiting(events));
    const link = await join();
    for (let round = 0; round < 12; round++) {
      const aborts = Array.from({ length: 100 }, () => new AbortController());
      const settled = Promise.allSettled(aborts.map(abort => link.status(abort.signal)));
      const begun = () => events.filter(event => event.endsWith('begun')).length;
      await until('they have begun', () => begun() === 100 * (round + 1));
      for (const abort of aborts) abort.abort();
      assert.ok((await settled).every(one => one.status === 'rejected'));
      await until('all are over', () => events.length === 200 * (round + 1));
    }
    // 1,200 went over a connection on which 1,024 may wait, and it still takes another.
    const abort = new AbortController();
    const last = link.status(abort.signal);
    await until('it has begun', () => events.length === 2401);
    abort.abort();
    await assert.rejects(last, is('cancelled'));
  });

  it('is never sent when it is cancelled before', async () => {
    const events: string[] = [];
    await serve(() => waiting(events));
    const link = await join();
    for (const kind of KINDS)
      await assert.rejects(REQUESTS[kind](link, AbortSignal.abort()), is('cancelled'));
    assert.deepEqual(events, []);
  });

  it('of every kind is rejected when the connection is lost, and its owner stops', async () => {
    const events: string[] = [];
    const server = await serve(() => waiting(events));
    const link = await join();
    const never = () => new AbortController().signal;
    const requests = KINDS.map(kind => REQUESTS[kind](link, never()));
    const settled = Promise.all(requests.map(request => assert.rejects(request, is('lost'))));
    await until('all have begun', () => events.length === KINDS.length);
    await Promise.all([settled, server.dispose()]);
    for (const kind of KINDS) assert.ok(events.includes(`${kind} cancelled`), kind);
    for (const kind of KINDS) await assert.rejects(REQUESTS[kind](link, never()), is('lost'));
  });

  it('is not begun when it would only read, and is carried out when it writes', async () => {
    const done: string[] = [];
    const note = (what: string) => () => Promise.resolve(void done.push(what));
    let ready: () => void = () => undefined;
    const opening = new Promise<void>(resolve => (ready = resolve));
    const archive = { search: note('search'), append: note('append') };
    const hold = async () => {
      await opening;
      return { archive, release: async () => undefined } as unknown as HeldArchive;
    };
    const owner = new SessionOwner(hold, pi);
    void owner.open().catch(() => undefined);
    const abort = new AbortController();
    const reading = owner.search({ query: 'q', from: 0 }, abort.signal);
    const writing = owner.append(APPEND);
    abort.abort();
    ready();
    await assert.rejects(reading, is('cancelled'));
    await writing;
    assert.deepEqual(done, ['append']);
  });
});
