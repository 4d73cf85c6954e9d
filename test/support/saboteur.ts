import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Sandbox } from './pi';

/** A moment in a run of Pi: one of its hooks, before or after ours, the message or the time of it that is meant. */
export interface Moment {
  readonly hook: string;
  readonly side: 'before' | 'after';
  /** Of `message_end`. */
  readonly role?: string;
}

const source = (side: string, plan: string) => `
import fs from 'node:fs';
const plan = ${JSON.stringify(plan)};
const hooks = ['session_start', 'input', 'model_select', 'session_before_compact', 'before_agent_start', 'message_end', 'context', 'context_with_system',
  'before_provider_request', 'after_provider_response', 'tool_call', 'turn_end', 'agent_settled', 'session_shutdown'];
export default pi => {
  for (const hook of hooks)
    pi.on(hook, event => {
      if (!fs.existsSync(plan)) return;
      const wanted = JSON.parse(fs.readFileSync(plan, 'utf8'));
      if (wanted.hook !== hook || wanted.side !== '${side}') return;
      if (wanted.role !== undefined && wanted.role !== event.message?.role) return;
      fs.rmSync(plan);
      if (wanted.act === 'kill') process.kill(process.pid, 'SIGKILL');
      else if (wanted.act === 'signal') process.kill(wanted.pid, wanted.signal);
      else return new Promise(() => undefined);
    });
};
`;

/**
 * Two extensions of the user's around ours, that do something bad at a moment that a test chooses: end their own
 * process by SIGKILL, send a signal to another one, or never return.
 */
export class Saboteur {
  private constructor(private readonly plan: string) {}

  static join(box: Sandbox): Saboteur {
    const plan = path.join(box.dir, 'sabotage.json');
    // Ours is `strata.js`, and Pi loads by name.
    box.addExtension('a-before', source('before', plan));
    box.addExtension('z-after', source('after', plan));
    return new Saboteur(plan);
  }

  /** The next Pi that comes there is killed. */
  kill(moment: Moment): void {
    this.#set({ ...moment, act: 'kill' });
  }

  /** Another process, `pid`, gets the signal there. */
  signal(moment: Moment, signal: 'SIGSTOP' | 'SIGKILL', pid: number): void {
    this.#set({ ...moment, act: 'signal', signal, pid });
  }

  /** The hook of that extension never returns. */
  hang(moment: Moment): void {
    this.#set({ ...moment, act: 'hang' });
  }

  /** Did Pi come to that moment? */
  get done(): boolean {
    return !existsSync(this.plan);
  }

  #set(plan: object): void {
    writeFileSync(this.plan, JSON.stringify(plan));
  }
}
