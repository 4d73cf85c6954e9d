// Counts down to a cup of tea; the clock is handed in, so tests need not wait.

/**
 * Time left, as people read it: "3:05".
 * @param {number} seconds
 */
export function timeLeft(seconds) {
  const left = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
}

/**
 * Seconds until a tea is ready.
 * @param {{minutes: number}} tea
 * @param {number} startedMs
 * @param {number} nowMs
 */
export function secondsLeft(tea, startedMs, nowMs) {
  return tea.minutes * 60 - (nowMs - startedMs) / 1000;
}
