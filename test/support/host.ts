import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { atExit } from '../../scripts/processes.mjs';
import { ROOT } from '../../scripts/tools.mjs';

/** A host in a process of its own, that can be stopped, frozen and killed. */
export class TestHost {
  readonly #exited: Promise<void>;
  readonly #forget: () => void;
  log = '';

  private constructor(private readonly child: ChildProcess) {
    this.#exited = new Promise(resolve => child.once('exit', () => resolve()));
    this.#forget = atExit(() => void child.kill('SIGKILL'));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.log += text));
  }

  /** Resolves when it serves sessions of the folders. Nothing of it leaves the folder `temporary`. */
  static async start(
    root: string,
    folders: readonly string[],
    memory: 'on' | 'off',
    temporary: string,
  ): Promise<TestHost> {
    const program = path.join(ROOT, 'out/test/pi/host.child.cjs');
    assert.ok(existsSync(program), `${program} is not built`);
    const child = spawn(process.execPath, [program, root, memory, ...folders], {
      env: { ...process.env, TMPDIR: temporary },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const host = new TestHost(child);
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`The host did not start. ${host.log}`)), 10_000);
      child.stdout.once('data', () => {
        clearTimeout(timer);
        resolve();
      });
      child.once('exit', code => {
        clearTimeout(timer);
        reject(new Error(`The host ended with code ${String(code)}. ${host.log}`));
      });
    });
    return host;
  }

  get pid(): number {
    assert.ok(this.child.pid !== undefined);
    return this.child.pid;
  }

  /** One letter, as the system says: R and S run, T is stopped, Z is dead. Undefined when it is gone. */
  get state(): string | undefined {
    try {
      const stat = readFileSync(`/proc/${this.pid}/stat`, 'latin1');
      return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
    } catch {
      return undefined;
    }
  }

  assertRunning(): void {
    assert.match(this.state ?? 'gone', /^[RSD]$/, 'the host was not running');
  }

  /** Ends it in the middle of whatever it does. It must have been running. */
  async kill(): Promise<void> {
    this.assertRunning();
    this.child.kill('SIGKILL');
    await this.#exited;
    this.#forget();
  }

  /** It keeps its connections and answers nothing any more. It must have been running. */
  async freeze(): Promise<void> {
    this.assertRunning();
    this.child.kill('SIGSTOP');
    for (let i = 0; this.state !== 'T'; i++) {
      assert.ok(i < 100, 'the host did not stop');
      await new Promise(resolve => setTimeout(resolve, 10));
    }
  }

  /** Goes on after `freeze`. */
  thaw(): void {
    assert.equal(this.state, 'T', 'the host was not frozen');
    this.child.kill('SIGCONT');
  }

  /** Ends it as closing its window does. */
  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    if (this.state === 'T') this.child.kill('SIGCONT');
    this.child.stdin?.end();
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 5_000);
    await this.#exited;
    clearTimeout(timer);
    this.#forget();
  }
}
