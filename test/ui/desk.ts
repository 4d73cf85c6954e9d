import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startCodeServer } from '../../scripts/codeServer.mjs';
import { startModel, writeAgentDir } from '../../scripts/model/server.mjs';
import { atExit } from '../../scripts/processes.mjs';
import { ensurePiProgram, ROOT } from '../../scripts/tools.mjs';
import { openWorkbench } from '../../scripts/workbench.mjs';
import { screenshot } from '../../scripts/workbench-ui.mjs';
import type { Sandbox } from '../support/pi';

type Model = Awaited<ReturnType<typeof startModel>>;
type Server = Awaited<ReturnType<typeof startCodeServer>>;
type Workbench = Awaited<ReturnType<typeof openWorkbench>>;

export interface DeskOptions {
  readonly settings?: Record<string, unknown>;
  readonly env?: NodeJS.ProcessEnv;
  readonly restricted?: boolean;
  /** The person's Pi, with what it was used for before the window is opened; default: a new one. */
  readonly box?: Sandbox;
  /** A folder or a .code-workspace file; default: an empty folder. */
  readonly folder?: string;
}

/** A person's desk: the workbench with Strata, a folder, and a Pi of its own on the demo model. */
export class Desk {
  private constructor(
    readonly dir: string,
    readonly agent: string,
    readonly model: Model,
    readonly server: Server,
    private window: Workbench,
  ) {}

  static async open(options: DeskOptions = {}): Promise<Desk> {
    const dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'strata-ui-')));
    const forget = atExit(() => fs.rmSync(dir, { recursive: true, force: true }));
    const agent = options.box?.agent ?? path.join(dir, 'agent');
    const model = options.box?.model ?? (await startModel());
    if (!options.box) writeAgentDir(agent, model.port, { contextWindow: 200_000 });
    const server = await startCodeServer({
      settings: {
        'strata.piPath': await ensurePiProgram(),
        'workbench.colorTheme': 'Dark Modern',
        ...options.settings,
      },
      env: {
        PI_CODING_AGENT_DIR: agent,
        PI_OFFLINE: '1',
        PI_SKIP_VERSION_CHECK: '1',
        PI_TELEMETRY: '0',
        ...options.env,
      },
      ...(options.restricted && { restricted: true }),
    });
    forget();
    const window = await openWorkbench(server, {
      dev: [ROOT],
      ...(options.folder !== undefined && { folder: options.folder }),
    });
    return new Desk(dir, agent, model, server, window);
  }

  get page() {
    return this.window.page;
  }
  /** The archive root. */
  get root(): string {
    return path.join(this.agent, 'strata');
  }
  /** Requests of the main model, not those that write lines. */
  get requests() {
    return this.model.requests.filter(request => !request.compactor);
  }

  shot(name: string): Promise<string> {
    return screenshot(this.page, name);
  }

  async close(): Promise<void> {
    await this.window.close();
    await this.server.stop();
    // Whoever brought the Pi closes it.
    if (this.agent.startsWith(this.dir)) await this.model.close();
    fs.rmSync(this.dir, { recursive: true, force: true });
  }
}
