import type { Compactor, SummaryReply, SummaryRequest } from '../../../extension/archive/ports';
import { sha256Hex } from '../../../extension/archive/canonical';

export const USAGE = { input: 10, output: 5, cacheRead: 1, cacheWrite: 2, cost: 0.25 };

/** The target as the model is given it, between the tags of the last block. */
export function targetOf(request: SummaryRequest): string {
  const task = request.blocks.at(-1) ?? '';
  const match = /<(target(?:-\d+)?)>\n([^]*)\n<\/\1>$/.exec(task);
  if (!match) throw new Error('the task has no target');
  return match[2] as string;
}

/** The bare lines the job was given of what came before. */
export function contextOf(request: SummaryRequest): string[] {
  const text = request.blocks.slice(0, -1).join('');
  const lines = text.split('\n');
  if (lines[0] !== '<chat>' || lines.at(-1) !== '</chat>') throw new Error('the context is not framed');
  return lines.slice(1, -1).filter(line => line !== '');
}

export function reply(text: string): SummaryReply {
  return { ok: true, text, model: 'test/model', usage: USAGE };
}

/**
 * Stands in for a model: the same target always gives the same line of a chosen length. `answer` may say something
 * else, fail, or wait.
 */
export class FakeCompactor implements Compactor {
  readonly requests: SummaryRequest[] = [];
  running = 0;
  mostRunning = 0;

  constructor(
    private readonly answer: (
      request: SummaryRequest,
      call: number,
      signal: AbortSignal,
    ) => SummaryReply | Promise<SummaryReply> = request => reply(lineFor(request)),
  ) {}

  get calls(): number {
    return this.requests.length;
  }
  async summarize(request: SummaryRequest, signal: AbortSignal): Promise<SummaryReply> {
    this.requests.push(request);
    this.running++;
    this.mostRunning = Math.max(this.mostRunning, this.running);
    try {
      return await this.answer(request, this.calls, signal);
    } finally {
      this.running--;
    }
  }
}

/** A deterministic line of 300 to 427 bytes. */
export function lineFor(request: SummaryRequest): string {
  const target = targetOf(request);
  const hash = sha256Hex(target);
  const length = 300 + (parseInt(hash.slice(0, 2), 16) % 128);
  return `summary ${hash} of ${target.replace(/\s+/g, ' ')}`
    .slice(0, 250)
    .replace(/[^\x20-\x7e]/g, '?')
    .padEnd(length, '.');
}
