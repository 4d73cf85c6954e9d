import assert from 'node:assert/strict';
import type { Archive, ArchiveEvent } from '../../../extension/archive/archive';
import { ArchiveError } from '../../../extension/archive/archiveError';
import type { Compactor } from '../../../extension/archive/ports';
import { activityOf, keptOf, phaseAfter, type Phase } from '../../../extension/vscode/memoryPhase';
import { bind, openArchive, prepare, text, user } from '../engine/conversation';
import { FakeCompactor } from '../engine/fakeCompactor';

/** Follows an archive as the host does. */
function follow(archive: Archive) {
  const events: ArchiveEvent['type'][] = [];
  const seen = {
    phase: { state: 'idle' } as Phase,
    events,
    activity: () => activityOf({ archive, ...seen, kept: keptOf(archive.state) }),
  };
  archive.onChange(event => {
    seen.phase = phaseAfter(seen.phase, event);
    if (event.type !== 'commit') events.push(event.type);
  });
  return seen;
}
const isCode = (code: string) => (e: unknown) => e instanceof ArchiveError && e.code === code;
const refusing: Compactor = {
  summarize: async () => ({ ok: false, reason: 'no key' }),
};

describe('what is said of a session', () => {
  it('is that memory works again after a prompt was cancelled while its lines were written', async () => {
    const archive = await openArchive();
    const chain = await bind(archive, [user(text('long', 2000)), user('short')]);
    const seen = follow(archive);
    const cancel = new AbortController();
    let asked = false;
    const waiting: Compactor = {
      summarize: (_, signal) =>
        new Promise((_resolve, reject) => {
          asked = true;
          assert.equal(seen.activity().state, 'preparing');
          signal.addEventListener('abort', () => reject(new Error('aborted')));
          setImmediate(() => cancel.abort());
        }),
    };
    await assert.rejects(
      prepare(archive, 't1', chain, waiting, { signal: cancel.signal }),
      isCode('cancelled'),
    );
    assert.ok(asked);
    assert.equal(seen.events.at(-1), 'ended');
    assert.ok(!seen.events.includes('failed'));
    assert.equal(seen.activity().state, 'ready');
  });

  it('is that memory is off, and not that it stopped, when a turn asks while it is off', async () => {
    const archive = await openArchive();
    const chain = await bind(archive, [user('hello')]);
    const seen = follow(archive);
    await archive.setMode(false);
    await assert.rejects(prepare(archive, 't1', chain, new FakeCompactor()), isCode('off'));
    assert.deepEqual(seen.events, ['ended']);
    assert.deepEqual(seen.activity(), { state: 'off' });
  });

  it('is why a prompt was stopped, until memory is switched off', async () => {
    const archive = await openArchive();
    const chain = await bind(archive, [user(text('long', 2000))]);
    const seen = follow(archive);
    await assert.rejects(prepare(archive, 't1', chain, refusing), isCode('prepare'));
    assert.equal(seen.events.at(-1), 'failed');
    const stopped = seen.activity();
    assert.ok(stopped.state === 'stopped' && /no key/.test(stopped.reason));
    await archive.setMode(false);
    assert.deepEqual(seen.activity(), { state: 'off' });
  });
});
