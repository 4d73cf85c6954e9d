// What a bench gives: figures with the bars they are held to.
import os from 'node:os';

/**
 * @typedef {object} Figure
 * @property {string} id
 * @property {number} value median of the runs
 * @property {string} unit
 * @property {number} baseline the same work without us, measured in between
 * @property {number} ratio value to baseline, as the bar means it
 * @property {string} bar
 * @property {boolean} holds
 * @property {number} [disk] the disk's own latency meanwhile: median milliseconds of a bare write + fdatasync
 */
/**
 * @typedef {object} Report
 * @property {string} name
 * @property {string} machine
 * @property {Figure[]} figures
 * @property {{id: string, reason: string}[]} absent figures that could not be measured: they do not hold
 */

/** @param {readonly number[]} values @returns {number} NaN of none */
export function median(values) {
  return quantile(values, 0.5);
}

/** @param {readonly number[]} values @param {number} q 0 to 1 @returns {number} NaN of none */
export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? NaN;
}

/** @returns {string} what the figures were measured on */
export function machine() {
  const [cpu] = os.cpus();
  return `${os.platform()}-${os.arch()}, ${os.cpus().length} × ${cpu?.model.trim() || 'unknown processor'}, Node ${process.versions.node}, load ${os.loadavg()[0]?.toFixed(1)}`;
}

/** @param {Report} report @returns {string} for people */
export function table({ name, machine, figures, absent }) {
  const lines = [`${name} (${machine})`];
  for (const { id, value, unit, baseline, ratio, bar, holds, disk } of figures)
    lines.push(
      `  ${holds ? 'holds ' : 'MISSES'} ${id}: ${round(value)} ${unit}, baseline ${round(baseline)} ${unit}, ratio ${round(ratio)} (bar ${bar})` +
        (disk === undefined ? '' : `; the disk alone ${round(disk)} ms`),
    );
  for (const { id, reason } of absent) lines.push(`  ABSENT ${id}: ${reason}`);
  return lines.join('\n');
}

/** @param {number} value */
function round(value) {
  return Number(value.toPrecision(4));
}
