import assert from 'node:assert/strict';
import {
  briefTime,
  counted,
  exactTime,
  formatBytes,
  formatCount,
  relativeTime,
} from '../../../extension/vscode/figures';

const at = (text: string) => new Date(text).getTime();

describe('figures for people', () => {
  it('sizes have a unit and at most one decimal', () => {
    const cases: [number, string][] = [
      [0, '0 B'],
      [1023, '1023 B'],
      [1024, '1 KB'],
      [1434, '1.4 KB'],
      [62_464, '61 KB'],
      [128_000, '125 KB'],
      [1_048_575, '1 MB'],
      [1_500_000, '1.4 MB'],
      [3_000_000_000, '2,861 MB'],
    ];
    for (const [bytes, text] of cases) assert.equal(formatBytes(bytes), text);
  });

  it('counts have commas, and one is singular', () => {
    assert.equal(formatCount(1204), '1,204');
    assert.equal(counted(1, 'record'), '1 record');
    assert.equal(counted(0, 'record'), '0 records');
    assert.equal(counted(1204, 'record'), '1,204 records');
    assert.equal(counted(2, 'entry', 'entries'), '2 entries');
  });

  it('a time becomes coarser as it recedes', () => {
    const now = at('2026-11-30T15:00:00');
    const cases: [string, string][] = [
      ['2026-11-30T15:00:05', 'now'],
      ['2026-11-30T14:59:30', 'now'],
      ['2026-11-30T14:56:00', '4 min ago'],
      ['2026-11-30T12:00:00', '3 h ago'],
      ['2026-11-30T00:01:00', '14 h ago'],
      ['2026-11-29T23:59:00', 'yesterday'],
      ['2026-11-29T00:00:00', 'yesterday'],
      ['2026-11-27T12:00:00', '3 days ago'],
      ['2026-11-03T12:00:00', '2026-11-03'],
    ];
    for (const [then, text] of cases) assert.equal(relativeTime(at(then), now), text, then);
  });

  it('just after midnight, an hour ago is not yet yesterday', () => {
    assert.equal(relativeTime(at('2026-11-29T23:30:00'), at('2026-11-30T00:45:00')), '1 h ago');
  });

  it('the exact time is local and to the second', () => {
    assert.equal(exactTime(at('2026-11-03T08:05:09')), '2026-11-03 08:05:09');
  });

  it('in a narrow place a time is two or three characters, or a date', () => {
    const now = at('2026-11-30T15:00:00');
    const cases = [
      ['2026-11-30T14:59:30', 'now'],
      ['2026-11-30T14:56:00', '4m'],
      ['2026-11-30T03:00:00', '12h'],
      ['2026-11-29T03:00:00', '1d'],
      ['2026-11-25T03:00:00', '5d'],
      ['2026-10-01T03:00:00', '2026-10-01'],
    ] as const;
    for (const [then, text] of cases) assert.equal(briefTime(at(then), now), text, then);
  });
});
