import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startModel, writeAgentDir } from '../../scripts/model/server.mjs';
import { atExit } from '../../scripts/processes.mjs';
import { ROOT, ensureNode, ensurePi } from '../../scripts/tools.mjs';
import { installPiExtension } from '../../extension/storage/piInstall';
import { TestHost } from './host';
import { PiRpc } from './piRpc';
import { Terminal } from './tmux';

export type Model = Awaited<ReturnType<typeof startModel>>;
export type Received = Model['requests'][number];
export interface Printed {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}
export interface SandboxOptions {
  readonly api?: 'openai-completions' | 'anthropic-messages';
  /** Tokens. */
  readonly contextWindow?: number;
  /** Tokens of the longest reply. */
  readonly maxTokens?: number;
  readonly settings?: Record<string, unknown>;
  readonly models?: readonly { id: string; name?: string; contextWindow?: number; maxTokens?: number }[];
  /** Answers summary jobs in place of the demo model. */
  readonly summarize?: NonNullable<Parameters<typeof startModel>[0]>['summarize'];
  /** False: Pi without Strata. */
  readonly installed?: boolean;
}

const VERSION = '0.0.0-test';

/** A throw-away home, Pi agent folder and project, with the demo model as Pi's only model. Nobody's own Pi is read. */
export class Sandbox {
  readonly agent: string;
  readonly project: string;
  /** Where hosts and Pis keep what is temporary. */
  readonly temporary: string;
  /** The archive root. */
  readonly root: string;
  /** What else stands in Pi's environment, from its next start on. */
  moreEnv: Record<string, string> = {};
  readonly #children = new Set<ChildProcess>();
  readonly #terminals = new Set<Terminal>();
  readonly #hosts = new Set<TestHost>();
  readonly #forget: () => void;

  private constructor(
    readonly dir: string,
    readonly model: Model,
    private readonly node: string,
    private readonly cli: string,
  ) {
    this.agent = path.join(dir, 'agent');
    this.project = path.join(dir, 'project');
    this.temporary = path.join(dir, 'tmp');
    this.root = path.join(this.agent, 'strata');
    this.#forget = atExit(() => {
      for (const child of this.#children) child.kill('SIGKILL');
      rmSync(dir, { recursive: true, force: true });
    });
  }

  static async make(options: SandboxOptions = {}): Promise<Sandbox> {
    const [node, cli] = await Promise.all([ensureNode(), ensurePi(process.env['PI_VERSION'])]);
    const dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'strata-pi-')));
    const { installed = true, summarize, ...model } = options;
    const sandbox = new Sandbox(dir, await startModel(summarize ? { summarize } : {}), node, cli);
    writeAgentDir(sandbox.agent, sandbox.model.port, model);
    mkdirSync(sandbox.project);
    mkdirSync(sandbox.temporary);
    writeFileSync(path.join(sandbox.project, 'a.txt'), 'content of a.txt\n');
    if (installed) await sandbox.install();
    return sandbox;
  }

  /** What Pi is started with: nothing of this process but PATH. */
  get env(): Record<string, string> {
    return {
      PATH: `${path.dirname(this.node)}:${process.env['PATH'] ?? ''}`,
      HOME: this.dir,
      TMPDIR: this.temporary,
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      PI_CODING_AGENT_DIR: this.agent,
      PI_OFFLINE: '1',
      PI_SKIP_VERSION_CHECK: '1',
      PI_TELEMETRY: '0',
      ...this.moreEnv,
    };
  }

  /** Where the loader finds the bundle. */
  get bundle(): string {
    return path.join(this.root, 'pi', VERSION, 'index.cjs');
  }

  /** As *Install Pi Extension* does it. */
  async install(): Promise<void> {
    const result = await installPiExtension({
      agentDir: this.agent,
      root: this.root,
      version: VERSION,
      distDir: path.join(ROOT, 'dist'),
    });
    assert.equal(result.state, 'installed');
  }

  /** Another extension of the user's, loaded by name in alphabetical order. */
  addExtension(name: string, source: string): void {
    mkdirSync(path.join(this.agent, 'extensions'), { recursive: true });
    writeFileSync(path.join(this.agent, 'extensions', `${name}.js`), source);
  }

  async host(memory: 'on' | 'off' = 'on', ...folders: string[]): Promise<TestHost> {
    const served = folders.length > 0 ? folders : [this.project];
    const host = await TestHost.start(this.root, served, memory, this.temporary);
    this.#hosts.add(host);
    return host;
  }

  rpc(...args: string[]): PiRpc {
    return new PiRpc(this.#spawn(['--mode', 'rpc', ...args]));
  }

  /** A Pi in another folder than the project. */
  rpcIn(cwd: string, ...args: string[]): PiRpc {
    return new PiRpc(this.#spawn(['--mode', 'rpc', ...args], cwd));
  }

  /** `pi -p`, to its end. */
  async print(...args: string[]): Promise<Printed> {
    const child = this.#spawn(['-p', ...args]);
    child.stdin?.end();
    let stdout = '';
    let stderr = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    // A tool's 31 MiB are ten seconds of work, on a machine that does nothing else.
    const timer = setTimeout(() => child.kill('SIGKILL'), 90_000);
    const code = await new Promise<number | null>(resolve => child.once('close', resolve));
    clearTimeout(timer);
    return { code, stdout, stderr };
  }

  /** Pi's own terminal interface, in a real terminal. */
  async tui(...args: string[]): Promise<Terminal> {
    const terminal = await Terminal.start([this.node, this.cli, ...args], {
      cwd: this.project,
      env: this.env,
    });
    this.#terminals.add(terminal);
    return terminal;
  }

  /** Requests of the conversation, without those for summaries. */
  get turns(): readonly Received[] {
    return this.model.requests.filter(request => !request.compactor);
  }

  get sessionFiles(): readonly string[] {
    return filesIn(path.join(this.agent, 'sessions')).filter(file => file.endsWith('.jsonl'));
  }

  /** The entries of the only session file. */
  get entries(): readonly Record<string, unknown>[] {
    const file = this.sessionFiles.at(-1);
    return file === undefined ? [] : readJsonLines(file);
  }

  /** Every byte that Strata keeps of the sessions here. */
  get archived(): string {
    return filesIn(path.join(this.root, 'sessions'))
      .map(file => readFileSync(file, 'latin1'))
      .join('\n');
  }

  /** The folders of the archives here. */
  get archives(): readonly string[] {
    const folder = path.join(this.root, 'sessions');
    return existsSync(folder) ? readdirSync(folder).map(name => path.join(folder, name)) : [];
  }

  async close(): Promise<void> {
    for (const terminal of this.#terminals) await terminal.close();
    await Promise.all(
      [...this.#children].map(async child => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const gone = new Promise(resolve => child.once('close', resolve));
        child.kill('SIGKILL');
        await gone;
      }),
    );
    for (const host of this.#hosts) await host.stop();
    await this.model.close();
    this.#forget();
    rmSync(this.dir, { recursive: true, force: true });
  }

  #spawn(args: readonly string[], cwd = this.project): ChildProcess {
    const child = spawn(this.node, [this.cli, ...args], {
      cwd,
      env: this.env,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#children.add(child);
    child.once('close', () => this.#children.delete(child));
    return child;
  }
}

/** The memory that a request carries: the text of the first user message, if it is a view. */
export function viewOf(request: Received): string | undefined {
  const first = request.conversation.said.find(message => message.role === 'user');
  return first?.text.startsWith('<chat>') ? first.text : undefined;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

/** One line a message, for comparing what a request said. */
export function outline(request: Received): string[] {
  return request.conversation.said.map(({ role, text, calls }) => {
    if (role === 'system') return 'system';
    if (role === 'user' && text.startsWith('<chat>')) return 'view';
    return [role, ...calls.map(call => `${call.name}${call.args}`), text].filter(Boolean).join(' ');
  });
}

export function readJsonLines(file: string): Record<string, unknown>[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line) as Record<string, unknown>);
}

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile())
    .map(entry => path.join(entry.parentPath, entry.name))
    .sort();
}
