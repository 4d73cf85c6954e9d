import { readFile } from 'node:fs/promises';
import os from 'node:os';

let known: Promise<string> | undefined;

/**
 * Names this start of this machine, so that a process id noted before a restart is never taken for a living process.
 * Where the system has no such name, the second it booted stands for it.
 */
export function bootId(): Promise<string> {
  known ??= readFile('/proc/sys/kernel/random/boot_id', 'utf8').then(
    text => text.trim(),
    () => `t${Math.round(Date.now() / 1000 - os.uptime())}`,
  );
  return known;
}
