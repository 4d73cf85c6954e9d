import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Sandbox } from './pi';

/** Puts a session file of the sandbox's project where Pi looks for those to continue; gives its path. */
export function placeSession(box: Sandbox, name: string, lines: readonly (string | object)[]): string {
  const cwd = realpathSync(box.project);
  const folder = path.join(box.agent, 'sessions', `--${cwd.replace(/^\//, '').replace(/[/\\:]/g, '-')}--`);
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, `2026-01-01T00-00-00-000Z_${name}.jsonl`);
  const text = lines.map(line => (typeof line === 'string' ? line : JSON.stringify(line)));
  writeFileSync(file, text.join('\n'));
  return file;
}

/** The header of such a file. */
export function headerOf(box: Sandbox, id: string, version = 3): object {
  const timestamp = '2026-01-01T00:00:00.000Z';
  return { type: 'session', version, id, timestamp, cwd: realpathSync(box.project) };
}

/** A line of entries e0, e1, …: prompts and replies in turn, each the text that `say` gives it. */
export function entriesOf(count: number, say: (n: number) => string): object[] {
  return Array.from({ length: count }, (_, n) => {
    const time = Date.UTC(2026, 0, 1) + n * 1000;
    const content = [{ type: 'text', text: say(n) }];
    const message =
      n % 2 === 0
        ? { role: 'user', content, timestamp: time }
        : {
            ...{ role: 'assistant', content, api: 'openai-completions', provider: 'demo', model: 'demo-1' },
            ...{ usage: USAGE, stopReason: 'stop', timestamp: time },
          };
    const place = {
      id: `e${n}`,
      parentId: n === 0 ? null : `e${n - 1}`,
      timestamp: new Date(time).toISOString(),
    };
    return { type: 'message', ...place, message };
  });
}

const USAGE = {
  ...{ input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2 },
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
