import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { atExit, endFamily, familyOf, killFamily, lives } from '../../scripts/processes.mjs';
import { ROOT } from '../../scripts/tools.mjs';
import { openBrowser } from '../../scripts/workbench.mjs';
import {
  eventually,
  ready,
  screenshot,
  statusItem,
  terminalShows,
  view,
} from '../../scripts/workbench-ui.mjs';

/** How long a step of the start may take on a machine that is busy with other tests, in milliseconds. */
const PATIENCE = 240_000;
/** Where the workbench's page holds its settings; the page that asks for the password has none. */
const WORKBENCH = 'vscode-workbench-web-configuration';

/** `npm start` in a terminal of its own, with what it printed there. */
class Started {
  output = '';
  code: number | NodeJS.Signals | undefined;

  private constructor(
    readonly pid: number,
    child: ChildProcess,
  ) {
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    child.on('exit', (code, signal) => (this.code = code ?? signal ?? undefined));
  }

  static run(args: readonly string[], env: NodeJS.ProcessEnv): Started {
    const child = spawn(process.execPath, [path.join(ROOT, 'scripts/start.mjs'), ...args], {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    assert.ok(child.pid !== undefined, 'it could be started');
    return new Started(child.pid, child);
  }

  /** What it prints where `pattern` has its group. */
  printed(pattern: RegExp): Promise<string> {
    return eventually(
      `npm start prints ${pattern}`,
      () => {
        const found = pattern.exec(this.output)?.[1];
        if (found === undefined && this.code !== undefined)
          assert.fail(`it ended with ${this.code}:\n${this.output}`);
        return found;
      },
      PATIENCE,
    );
  }
}

/** Whether anybody listens on a port of this machine. */
const answers = (port: number) =>
  new Promise<boolean>(done => {
    const socket = net.connect({ host: '127.0.0.1', port });
    socket.on('connect', () => {
      socket.destroy();
      done(true);
    });
    socket.on('error', () => done(false));
  });

const freePort = () =>
  new Promise<number>((done, fail) => {
    const server = net.createServer().on('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });

describe('npm start', function () {
  this.timeout(PATIENCE + 60_000);
  let dir: string;
  let port: number;
  let demo: Started;
  let url: string;
  let password: string;
  let browser: Browser | undefined;
  let page: Page | undefined;
  let forget: () => void;

  before(async () => {
    dir = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'strata-start-')));
    port = await freePort();
    demo = Started.run(['--fresh', '--port', String(port)], {
      STRATA_EDITOR: 'code-server',
      STRATA_DEMO_DIR: dir,
    });
    forget = atExit(() => {
      killFamily(demo.pid);
      fs.rmSync(dir, { recursive: true, force: true });
    });
    url = await demo.printed(/^ *(http\S+)$/m);
    password = await demo.printed(/^ *Password: (\S+)$/m);
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed' && page !== undefined)
      await screenshot(page, 'start-screen-failed');
  });
  after(async () => {
    try {
      await browser?.close();
    } finally {
      if (demo.code === undefined) await endFamily(demo.pid, 5000);
      fs.rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
      forget();
    }
  });

  it('serves this machine alone, and nobody without the password that it printed', async () => {
    assert.ok(url.startsWith(`http://127.0.0.1:${port}/`), url);
    assert.ok(password.length >= 12, 'the password cannot be guessed');
    const addresses = Object.values(os.networkInterfaces()).flatMap(all => all ?? []);
    for (const { address } of addresses.filter(({ internal, family }) => !internal && family === 'IPv4'))
      await assert.rejects(fetch(`http://${address}:${port}/healthz`), `${address} is not served`);

    const without = await (await fetch(url)).text();
    assert.match(without, /type="password"/);
    assert.ok(!without.includes(WORKBENCH), 'the workbench is not shown');

    const logIn = (word: string) =>
      fetch(new URL('/login', url), {
        method: 'POST',
        body: new URLSearchParams({ password: word }),
        redirect: 'manual',
      });
    const refused = await logIn(`${password}x`);
    assert.equal(refused.headers.get('set-cookie'), null);
    assert.match(await refused.text(), /Incorrect password/i);

    // The same request with the right one, so that the two refusals above mean something.
    const cookie = (await logIn(password)).headers.get('set-cookie')?.split(';')[0];
    assert.ok(cookie !== undefined, 'the right password is accepted');
    assert.ok((await (await fetch(url, { headers: { cookie } })).text()).includes(WORKBENCH));
  });

  it('its first screen is the session and its memory, and nothing that nobody asked for', async () => {
    browser = await openBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const errors: string[] = [];
    page.on('pageerror', error => errors.push(error.stack ?? String(error)));
    await page.goto(url, { waitUntil: 'commit', timeout: 60_000 });
    await page.locator('input[name=password]').fill(password);
    await page.keyboard.press('Enter');
    await ready(page);

    const shown = await terminalShows(page, /memory: on/, 120_000);
    const rows = view(page, 'Memory').locator('.monaco-list-row[role=treeitem]');
    await eventually('the memory has ten rows', async () => (await rows.count()) >= 10, 60_000);
    await statusItem(page, 'strata.strata.memory').waitFor();
    // As long as a late guest would take: a welcome page, a question, a notification.
    await page.waitForTimeout(5000);
    await screenshot(page, 'start');

    assert.deepEqual(await page.locator('.editor-group-container .tab .label-name').allInnerTexts(), ['Pi']);
    for (const [what, guest] of [
      ['a notification', '.notification-toast'],
      ['a chat or another second side bar', '.part.auxiliarybar'],
      ['a panel', '.part.panel'],
      ['a welcome page', '.gettingStartedContainer, .welcomePageContainer'],
      ['a banner', '.part.banner'],
      ['a dialog', '.monaco-dialog-box, .quick-input-widget'],
    ] as const)
      assert.equal(await page.locator(guest).filter({ visible: true }).count(), 0, `${what} is shown`);
    assert.doesNotMatch(await page.locator('.part.statusbar').innerText(), /Restricted Mode/);
    const terminal = await terminalShows(page, /memory: on/);
    assert.doesNotMatch(terminal, /warning|update available/i);
    assert.doesNotMatch(shown, /warning|update available/i);
    for (const price of terminal.match(/\$\d+(?:\.\d+)?/g) ?? []) assert.equal(Number(price.slice(1)), 0);
    assert.deepEqual(errors, []);
  });

  it('one Ctrl+C ends it and everything it started, in order', async () => {
    const models = fs.readFileSync(path.join(dir, 'strata-demo/agent/models.json'), 'utf8');
    const modelPort = Number(/127\.0\.0\.1:(\d+)/.exec(models)?.[1]);
    const family = familyOf(demo.pid);
    assert.ok(family.length > 2 && (await answers(port)) && (await answers(modelPort)), 'it was running');

    process.kill(demo.pid, 'SIGINT');
    const code = await eventually('it ends', () => demo.code?.toString(), 20_000);
    assert.ok(['0', '130'].includes(code), `it ended with ${code}:\n${demo.output}`);
    const left = family.filter(lives).map(({ pid }) => pid);
    assert.deepEqual(left, [], 'nothing it started is left');
    assert.ok(!(await answers(port)), 'the workbench is gone');
    assert.ok(!(await answers(modelPort)), 'the model is gone');
    assert.ok(!fs.existsSync(path.join(dir, 'strata-demo/running.json')), 'the next start may begin');
  });
});
