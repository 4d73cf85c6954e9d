import { tryLock } from '../../../extension/storage/lock';

/**
 * `hold FILE`: takes the lock, says so, and keeps it. `contend FILE OVERLAP N`: takes it N times and makes the file
 * OVERLAP each time while it holds the lock; its existence means that somebody else holds it too.
 */
async function main(): Promise<void> {
  const [, , mode, file = '', overlap = '', rounds = '0'] = process.argv;
  if (mode === 'hold') {
    const result = await tryLock(file, '/a/run/file.json');
    process.stdout.write(`${result.state}${result.state === 'unavailable' ? ` ${result.reason}` : ''}\n`);
    setInterval(() => undefined, 60_000);
    return;
  }
  const { openSync, closeSync, unlinkSync } = await import('node:fs');
  for (let taken = 0; taken < Number(rounds);) {
    const result = await tryLock(file);
    if (result.state === 'unavailable') throw new Error(result.reason);
    if (result.state === 'held') {
      closeSync(openSync(overlap, 'wx'));
      await new Promise(resolve => setTimeout(resolve, 1));
      unlinkSync(overlap);
      await result.lock.release();
      taken++;
    }
    await new Promise(resolve => setImmediate(resolve));
  }
}

void main();
