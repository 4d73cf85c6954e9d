import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { atExit } from '../../scripts/processes.mjs';
import { ensureTmux } from '../../scripts/tools.mjs';

const run = promisify(execFile);
let count = 0;

/** A program in a real terminal of 120 columns and 40 rows. */
export class Terminal {
  readonly #forget: () => void;

  private constructor(
    private readonly tmux: string,
    private readonly socket: string,
  ) {
    // Its server would outlive this process.
    this.#forget = atExit(() => void spawnSync(tmux, ['-L', socket, 'kill-server'], { stdio: 'ignore' }));
  }

  static async start(
    command: readonly string[],
    options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
  ): Promise<Terminal> {
    // A server of its own, so that nobody's tmux is touched.
    const terminal = new Terminal(await ensureTmux(), `strata-${process.pid}-${++count}`);
    const env = Object.entries(options.env).map(([name, value]) => `${name}=${value}`);
    await terminal.#call([
      ...['new-session', '-d', '-x', '120', '-y', '40', '-c', options.cwd],
      ...['env', '-i', ...env, ...command],
    ]);
    return terminal;
  }

  /** Types text; `Enter`, `Escape` and the like are keys. */
  async type(text: string): Promise<void> {
    await this.#call(['send-keys', '-l', text]);
  }

  async press(...keys: string[]): Promise<void> {
    await this.#call(['send-keys', ...keys]);
  }

  /** What stands on the screen now, rows joined without their breaks when `joined`. */
  async screen(): Promise<string> {
    return (await this.#call(['capture-pane', '-p', '-S', '-200'])).replaceAll('\u00a0', ' ');
  }

  /** Waits until the screen, with its row breaks as spaces, shows something. */
  async until(what: RegExp, ms = 15_000): Promise<string> {
    const end = Date.now() + ms;
    for (;;) {
      const screen = await this.screen();
      if (what.test(screen.replace(/\s+/g, ' '))) return screen;
      assert.ok(Date.now() < end, `The screen never showed ${what}:\n${screen}`);
      await new Promise(resolve => setTimeout(resolve, 100));
    }
  }

  async close(): Promise<void> {
    await this.#call(['kill-server']).catch(() => undefined);
    this.#forget();
  }

  async #call(args: readonly string[]): Promise<string> {
    const { stdout } = await run(this.tmux, ['-L', this.socket, '-f', '/dev/null', ...args]);
    return stdout;
  }
}
