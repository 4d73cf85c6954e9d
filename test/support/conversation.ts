import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { canary } from '../../scripts/model/history.mjs';
import type { PiRpc } from './piRpc';
import type { Sandbox } from './pi';

/** A mark that the model server recognises as raw history when it comes back on a later turn outside the view. */
export const mark = (turn: number) => canary(turn, randomBytes(8).toString('hex'));

/** Text of about this many characters that no other text is like, with the turn's mark at its end. */
function text(turn: number, bytes: number, about: string): string {
  const words = `${about}: `.padEnd(24, '.');
  let body = words;
  for (let i = 0; body.length < bytes - 24; i++) body += ` ${about}-${i}-${randomBytes(3).toString('hex')}`;
  return `${body.slice(0, bytes - 24)} ${mark(turn)}`;
}

/**
 * Turns 1 to 4 of a long conversation: 40 files read at once in each of three, so more than 240 records, of which 120
 * have 250 to 500 bytes: more than a view for a 32k window holds. One file a turn is longer than a line can be. The
 * last turn leaves some short ones.
 */
export async function longConversation(box: Sandbox, pi: PiRpc): Promise<void> {
  for (let turn = 1; turn <= 4; turn++) {
    const reads = Array.from({ length: turn === 4 ? 10 : 40 }, (_, i) => {
      const file = `t${turn}-${i}.txt`;
      const bytes = turn === 4 ? 100 : i === 7 ? 2_000 : 250 + ((i * 53) % 220);
      writeFileSync(path.join(box.project, file), `${text(turn, bytes, file)}\n`);
      return ['read', { path: file }];
    });
    const prompt = `${text(turn, 400, `prompt ${turn}`)}\n!tools ${JSON.stringify(reads)}\n!say done with ${turn}`;
    await pi.prompt(prompt, 60_000);
  }
}
