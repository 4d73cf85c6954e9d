import assert from 'node:assert/strict';
import { statusOf, type MemoryActivity, type ServedMemory } from '../../../extension/vscode/statusModel';

const served = (title: string, activity: MemoryActivity, lastActivity = 0): ServedMemory => ({
  title,
  activity,
  lastActivity,
});

describe('the status bar', () => {
  it('is hidden while no session is served', () => assert.equal(statusOf([]), undefined));

  it('shows records and bytes of the latest session', () => {
    const item = statusOf([
      served('old', { state: 'ready', records: 5, viewBytes: 100 }, 1),
      served('new', { state: 'ready', records: 1412, viewBytes: 62_464 }, 2),
    ]);
    assert.equal(item?.text, '$(layers) 1,412 · 61 KB');
    assert.match(item?.tooltip ?? '', /new/);
    assert.equal(item?.warning, false);
  });

  it('before the first view it says records alone', () =>
    assert.equal(statusOf([served('a', { state: 'ready', records: 2, viewBytes: 0 })])?.text, '$(layers) 2'));

  it('spins with figures while a request waits', () => {
    const item = statusOf([
      served('a', { state: 'ready', records: 5, viewBytes: 100 }, 9),
      served('b', { state: 'preparing', done: 12, total: 40 }),
    ]);
    assert.equal(item?.text, '$(sync~spin) memory 12/40');
  });

  it('a stopped memory is said before anything else, with its reason', () => {
    const item = statusOf([
      served('a', { state: 'preparing', done: 1, total: 4 }, 9),
      served('b', { state: 'stopped', reason: 'The disk is full.' }),
    ]);
    assert.equal(item?.text, '$(warning) memory stopped');
    assert.ok(item?.warning);
    assert.match(item?.tooltip ?? '', /The disk is full\./);
  });

  it('memory that is off says so', () =>
    assert.equal(statusOf([served('a', { state: 'off' })])?.text, '$(layers) memory off'));
});
