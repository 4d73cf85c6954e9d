import assert from 'node:assert/strict';
import type { ArchiveId } from '../../../extension/archive/ids';
import { bySessionOrder, sessionRow, type SessionFacts } from '../../../extension/vscode/sessionRows';

const NOW = new Date('2026-11-30T15:00:00').getTime();
const facts = (over: Partial<SessionFacts> = {}): SessionFacts => ({
  key: 'a'.repeat(24),
  id: 'a'.repeat(24) as ArchiveId,
  state: 'closed',
  firstPrompt: 'fix the flaky login test',
  file: '/home/me/.pi/agent/sessions/x/y.jsonl',
  fileBytes: 20_480,
  journalBytes: 4096,
  lastActivity: NOW - 4 * 60_000,
  ...over,
});

describe('rows of the Sessions view', () => {
  it('a session is called by its name, else its first prompt, else its time', () => {
    assert.equal(sessionRow(facts({ name: 'login' }), NOW).label, 'login');
    assert.equal(sessionRow(facts(), NOW).label, 'fix the flaky login test');
    const bare = { ...facts() } as { firstPrompt?: string } & SessionFacts;
    delete bare.firstPrompt;
    assert.equal(sessionRow(bare, NOW).label, '2026-11-30 14:56:00');
    assert.equal(sessionRow(facts({ name: ' \n\t ' }), NOW).label, '2026-11-30 14:56:00');
  });

  it('a prompt of many lines or control characters stays one row of text', () => {
    const { label } = sessionRow(facts({ firstPrompt: `a\r\n\tb\u0007c ${'x'.repeat(5000)}` }), NOW);
    assert.match(label, /^a b c x+…$/);
    assert.ok(label.length <= 24);
  });

  it('says when, and how large', () => {
    assert.equal(sessionRow(facts({ state: 'running', records: 412 }), NOW).description, '4m · 412 records');
    assert.equal(sessionRow(facts(), NOW).description, '4m · 20 KB');
    assert.equal(sessionRow(facts({ state: 'attached', pid: 7 }), NOW).description, '4m · elsewhere');
    assert.equal(sessionRow(facts({ state: 'damaged' }), NOW).description, '4m · damaged');
    const title = 'a name too long for the side bar';
    assert.equal(
      sessionRow(facts({ name: title, state: 'running', records: 1 }), NOW).spoken,
      `${title}, Running, remembered by this window, 4 min ago, 1 record`,
    );
  });

  it('the tooltip has the exact time, the owner and what is damaged', () => {
    assert.match(sessionRow(facts({ state: 'attached', pid: 4123 }), NOW).tooltip, /\(pid 4123\)/);
    const damaged = sessionRow(facts({ state: 'damaged', problem: 'config.json is missing.' }), NOW);
    assert.ok(damaged.warning);
    assert.match(damaged.tooltip, /config\.json is missing\./);
    assert.match(damaged.tooltip, /2026-11-30 14:56:00/);
  });

  it('only a closed session with a file can be resumed: Pi does not lock its files', () => {
    const resumable = (f: SessionFacts) => /\bresumable\b/.test(sessionRow(f, NOW).context);
    assert.ok(resumable(facts()));
    assert.ok(!resumable(facts({ state: 'running' })));
    assert.ok(!resumable(facts({ state: 'attached' })));
  });

  it('a session without an archive offers to be read into one', () => {
    const bare = { ...facts() } as { journalBytes?: number } & SessionFacts;
    delete bare.journalBytes;
    assert.match(sessionRow(bare, NOW).context, /\bunread\b/);
    assert.doesNotMatch(sessionRow(facts(), NOW).context, /\bunread\b/);
  });

  it('what runs here comes first, then the latest', () => {
    const order = [
      facts({ name: 'old', lastActivity: 1 }),
      facts({ name: 'new', lastActivity: 3 }),
      facts({ name: 'live', lastActivity: 2, state: 'running' }),
    ].sort(bySessionOrder);
    assert.deepEqual(
      order.map(f => f.name),
      ['live', 'new', 'old'],
    );
  });
});
