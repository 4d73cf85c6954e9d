import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';

export interface PiEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A real Pi in its RPC mode. Records are JSON lines that end at LF alone; other separators may stand inside a text. */
export class PiRpc {
  /** Everything Pi said that answers no command. */
  readonly events: PiEvent[] = [];
  errors = '';
  readonly exited: Promise<number | null>;
  readonly #answers = new Map<string, (answer: PiEvent) => void>();
  readonly #waiting = new Set<() => void>();
  #sent = 0;

  constructor(private readonly child: ChildProcess) {
    let rest = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line.trim() !== '') this.#take(JSON.parse(line) as PiEvent);
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.errors += text));
    this.exited = new Promise(resolve => child.once('close', code => resolve(code)));
  }

  get pid(): number {
    return this.child.pid ?? assert.fail();
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Sends a command and gives its answer, which may be a refusal. */
  async send(type: string, fields: object = {}): Promise<PiEvent> {
    const id = `c${++this.#sent}`;
    const answer = new Promise<PiEvent>(resolve => this.#answers.set(id, resolve));
    this.child.stdin?.write(`${JSON.stringify({ id, type, ...fields })}\n`);
    return this.#within(answer, 20_000, `an answer to ${type}`);
  }

  /** Waits until something happened, counted from event number `from`. */
  async until(what: string, test: (event: PiEvent) => boolean, ms = 20_000, from = 0): Promise<PiEvent> {
    const look = () => this.events.slice(from).find(test);
    const found = new Promise<PiEvent>(resolve => {
      const check = () => {
        const event = look();
        if (!event) return;
        this.#waiting.delete(check);
        resolve(event);
      };
      this.#waiting.add(check);
      check();
    });
    return this.#within(found, ms, what);
  }

  /** Sends a prompt and waits until its turn has settled; gives the turn's events. */
  async prompt(message: string, ms = 30_000): Promise<PiEvent[]> {
    const from = this.events.length;
    await this.start(message);
    await this.until('the turn to settle', event => event.type === 'agent_settled', ms, from);
    return this.events.slice(from);
  }

  /** Sends a prompt that must start a run, and doesn't wait for it. */
  async start(message: string): Promise<void> {
    const answer = await this.send('prompt', { message });
    const { disposition } = (answer['data'] ?? {}) as { disposition?: string };
    assert.equal(disposition, 'started', JSON.stringify(answer));
  }

  async close(): Promise<number | null> {
    this.child.stdin?.end();
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 8_000);
    const code = await this.exited;
    clearTimeout(timer);
    return code;
  }

  /** Ends it in the middle of whatever it does. It must have been running. */
  async kill(): Promise<void> {
    assert.ok(this.isRunning, 'Pi was not running');
    this.child.kill('SIGKILL');
    await this.exited;
  }

  #take(event: PiEvent): void {
    const answer = event.type === 'response' ? this.#answers.get(String(event['id'])) : undefined;
    if (answer) {
      this.#answers.delete(String(event['id']));
      answer(event);
      return;
    }
    this.events.push(event);
    for (const check of [...this.#waiting]) check();
  }

  async #within<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const seen = () =>
        this.events
          .slice(-8)
          .map(event => event.type)
          .join(', ');
      timer = setTimeout(
        () =>
          reject(new Error(`Pi: no ${what} within ${ms} ms (last: ${seen()}). ${this.errors.slice(-800)}`)),
        ms,
      );
      void this.exited.then(code =>
        reject(
          new Error(
            `Pi ended with code ${String(code)} while waiting for ${what}. ${this.errors.slice(-800)}`,
          ),
        ),
      );
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** What Pi shows as the reason of a failed reply, in the events of a turn. */
export function reasonIn(events: readonly PiEvent[]): string {
  const failed = events
    .filter(event => event.type === 'message_end')
    .map(event => event['message'] as { role: string; stopReason?: string; errorMessage?: string })
    .findLast(message => message.role === 'assistant');
  assert.equal(failed?.stopReason, 'error');
  return failed.errorMessage ?? '';
}
