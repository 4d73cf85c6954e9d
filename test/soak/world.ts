import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readArchive } from '../../extension/cli/readArchive';
import type { TestHost } from '../support/host';
import { Sandbox } from '../support/pi';
import type { PiEvent, PiRpc } from '../support/piRpc';

export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Commands for what Pi offers to people at its screen only. */
const COMMANDS = `
export default pi => {
  pi.registerCommand('goto', { description: 'goes there', handler: async (args, ctx) => { await ctx.navigateTree(args.trim()); } });
  pi.registerCommand('again', { description: 'reloads', handler: async (_args, ctx) => ctx.reload() });
};`;

/** The same numbers for the same seed, from 0 up to 1. */
export type Random = () => number;

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

/** One real Pi, the hosts around it, and what both were seen to do. */
export class World {
  readonly hosts: TestHost[] = [];
  /** Role and token of each finished message that Pi announced: Strata had acknowledged it by then. */
  readonly acknowledged = new Set<string>();
  readonly counts = new Map<string, number>();
  readonly broken: string[] = [];
  /** Processes that were killed. */
  kills = 0;
  /** Pi's file of the present session. */
  file = '';
  /** The turn that runs, from 0. */
  turn = 0;
  pi: PiRpc;
  #heard = 0;
  readonly #trail: string[] = [];

  private constructor(
    readonly box: Sandbox,
    readonly random: Random,
  ) {
    this.pi = box.rpc();
  }

  static async make(random: Random): Promise<World> {
    const box = await Sandbox.make();
    box.addExtension('commands', COMMANDS);
    writeFileSync(path.join(box.project, 'pic.png'), Buffer.from(PNG, 'base64'));
    const world = new World(box, random);
    world.file = await world.sessionFile();
    return world;
  }

  below(n: number): number {
    return Math.floor(this.random() * n);
  }
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
  note(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
    this.#trail.push(`${this.turn}:${what}`);
  }
  readonly fail = (text: string): void => {
    const said = `turn ${this.turn}: ${text} (after ${this.#trail.slice(-10).join(' ')})`;
    if (!this.broken.includes(said)) this.broken.push(said);
  };

  async startHost(): Promise<void> {
    if (this.hosts.length < 2) this.hosts.push(await this.box.host());
  }
  async stopHosts(): Promise<void> {
    for (const host of this.hosts.splice(0)) await host.stop();
  }
  async killHosts(): Promise<void> {
    for (const host of this.hosts.splice(0)) {
      await host.kill();
      this.kills++;
    }
  }
  async killPi(): Promise<void> {
    this.hear();
    await this.pi.kill();
    this.kills++;
  }
  /** Pi again, on the same session as far as Pi had written it. */
  async restart(): Promise<void> {
    this.pi = existsSync(this.file) ? this.box.rpc('--session', this.file) : this.box.rpc();
    this.#heard = 0;
    this.file = await this.sessionFile();
  }
  async sessionFile(): Promise<string> {
    for (let attempt = 1; ; attempt++)
      try {
        const { data } = (await this.pi.send('get_state')) as PiEvent & { data?: { sessionFile?: string } };
        return data?.sessionFile ?? '';
      } catch (error) {
        // A loaded machine takes its time to start a Pi.
        if (attempt === 4 || !this.pi.isRunning) throw error;
      }
  }
  /** The archive of a session. */
  async archiveOf(session: string): Promise<string | undefined> {
    for (const dir of this.box.archives)
      if ((await readArchive(dir)).config.sessionFile === session) return dir;
    return undefined;
  }

  /** Takes note of the finished messages that Pi has announced since. */
  hear(): void {
    for (const event of this.pi.events.slice(this.#heard)) {
      if (event.type === 'extension_error' && event['event'] !== 'command')
        this.fail(`an extension failed: ${JSON.stringify(event).slice(0, 300)}`);
      if (event.type !== 'message_end') continue;
      const message = event['message'] as { role: string; stopReason?: string };
      const { role, stopReason } = message;
      if (role === 'assistant' && stopReason !== 'stop' && stopReason !== 'toolUse') continue;
      if (!['user', 'assistant', 'toolResult'].includes(role)) continue;
      for (const [token] of JSON.stringify(message).matchAll(/\b[TRS]\d+[TRS]\b/g))
        this.acknowledged.add(`${role} ${token}`);
    }
    this.#heard = this.pi.events.length;
  }
}
