import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findTea, teas } from '../src/teas.js';
import { secondsLeft, timeLeft } from '../src/timer.js';

test('a tea is found whatever its case', () => {
  assert.equal(findTea(' Sencha ')?.degrees, 75);
});

test('time left is shown as minutes and seconds', () => {
  assert.equal(timeLeft(185), '3:05');
  assert.equal(timeLeft(-4), '0:00');
});

test('a tea of two minutes has 30 seconds left after 90', () => {
  assert.equal(secondsLeft({ minutes: 2 }, 0, 90_000), 30);
});

test('no tea steeps for more than ten minutes', () => {
  assert.ok(teas.every(tea => tea.minutes > 0 && tea.minutes <= 10));
});
