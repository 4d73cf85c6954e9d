import assert from 'node:assert/strict';
import path from 'node:path';
import {
  INSTALL_PI,
  locatePi,
  runsPi,
  type LocatorRequest,
  type PiCommand,
  type Programs,
} from '../../../extension/vscode/piLocator';

interface FakeFile {
  readonly text?: string;
  /** What it prints for --version. */
  readonly version?: string;
  readonly link?: string;
}

/** A disk made of a table; folders are implied by the files in them. */
function disk(
  files: Record<string, FakeFile>,
  p: path.PlatformPath = path.posix,
): Programs & { ran: string[] } {
  const ran: string[] = [];
  const behind = (file: string): string => {
    const link = files[file]?.link;
    return link === undefined ? file : behind(link);
  };
  return {
    ran,
    isFile: async file => behind(file) in files,
    list: async dir => [
      ...new Set(
        Object.keys(files)
          .filter(file => file.startsWith(dir + p.sep))
          .map(file => file.slice(dir.length + 1).split(p.sep)[0] ?? ''),
      ),
    ],
    realPath: async file => behind(file),
    head: async (file, bytes) => (files[behind(file)]?.text ?? '').slice(0, bytes),
    version: async (file, env) => {
      ran.push(Object.keys(env).length ? `${file} as node` : file);
      return files[behind(file)]?.version;
    },
  };
}

const CLI = { text: '#!/usr/bin/env node\nimport("./main.js")' };
const linux = (over: Partial<LocatorRequest> = {}): LocatorRequest => ({
  platform: 'linux',
  home: '/home/me',
  env: { PATH: '/usr/bin:/bin' },
  setting: '',
  host: { execPath: '/opt/code/node', electron: false },
  ...over,
});

async function found(request: LocatorRequest, programs: Programs): Promise<PiCommand> {
  const located = await locatePi(request, programs);
  assert.ok(located.found, located.found ? '' : located.message);
  return located.program;
}
async function missing(request: LocatorRequest, programs: Programs) {
  const located = await locatePi(request, programs);
  assert.ok(!located.found, 'nothing should have been found');
  return located;
}

describe('finding Pi and a Node for it', () => {
  it('a script on PATH is run with the Node beside it, never by its first line', async () => {
    const programs = disk({
      '/usr/bin/pi': { link: '/usr/lib/node_modules/pi/dist/cli.js' },
      '/usr/lib/node_modules/pi/dist/cli.js': CLI,
      '/usr/bin/node': { version: 'v22.19.0' },
    });
    const program = await found(linux(), programs);
    assert.deepEqual(program, {
      command: '/usr/bin/node',
      args: ['/usr/lib/node_modules/pi/dist/cli.js'],
      env: {},
      pi: '/usr/bin/pi',
    });
  });

  it('an old Node beside Pi is passed over for a later one on PATH', async () => {
    const programs = disk({
      '/usr/bin/pi': CLI,
      '/usr/bin/node': { version: 'v20.20.2' },
      '/opt/new/node': { version: 'v24.3.0' },
    });
    const program = await found(linux({ env: { PATH: '/usr/bin:/opt/new' } }), programs);
    assert.equal(program.command, '/opt/new/node');
    assert.deepEqual(programs.ran, ['/usr/bin/node', '/opt/new/node']);
  });

  it('the host itself is the last Node asked, and runs as Node where it is Electron', async () => {
    const programs = disk({
      '/usr/bin/pi': CLI,
      '/usr/bin/node': { version: 'v20.20.2' },
      '/opt/code/code': { version: 'v22.21.1' },
    });
    const program = await found(linux({ host: { execPath: '/opt/code/code', electron: true } }), programs);
    assert.equal(program.command, '/opt/code/code');
    assert.deepEqual(program.env, { ELECTRON_RUN_AS_NODE: '1' });
    assert.deepEqual(programs.ran, ['/usr/bin/node', '/opt/code/code as node']);
  });

  it('a Node reached by two links is asked once', async () => {
    const programs = disk({
      '/usr/bin/pi': CLI,
      '/usr/bin/node': { version: 'v20.0.0' },
      '/bin/node': { link: '/usr/bin/node' },
      '/opt/code/node': { version: 'v20.0.0' },
    });
    await missing(linux(), programs);
    assert.deepEqual(programs.ran, ['/usr/bin/node', '/opt/code/node']);
  });

  it('without a new enough Node it names what it found and what to do', async () => {
    const located = await missing(
      linux(),
      disk({
        '/usr/bin/pi': CLI,
        '/usr/bin/node': { version: 'v20.20.2' },
        '/opt/code/node': { version: 'v20.19.5' },
      }),
    );
    assert.equal(located.missing, 'node');
    assert.match(located.message, /Node 22\.19 or newer/);
    assert.match(located.message, /\/usr\/bin\/node is 20\.20\.2; \/opt\/code\/node is 20\.19\.5/);
    assert.match(located.message, /strata\.piPath/);
  });

  it('without Pi it says how to install it', async () => {
    const located = await missing(linux(), disk({ '/usr/bin/node': { version: 'v24.0.0' } }));
    assert.equal(located.missing, 'pi');
    assert.ok(located.message.includes(INSTALL_PI));
    assert.match(located.message, /strata\.piPath/);
  });

  it('the setting wins, and a wrapper it names is run as it is', async () => {
    const programs = disk({
      '/usr/bin/pi': CLI,
      '/usr/bin/node': { version: 'v24.0.0' },
      '/home/me/bin/pi-here': { text: '#!/bin/sh\nexec /opt/node /opt/cli.js "$@"' },
    });
    const program = await found(linux({ setting: '~/bin/pi-here' }), programs);
    assert.deepEqual(program, {
      command: '/home/me/bin/pi-here',
      args: [],
      env: {},
      pi: '/home/me/bin/pi-here',
    });
    assert.deepEqual(programs.ran, []);
  });

  it('a setting that names nothing is an error, not a reason to look elsewhere', async () => {
    const programs = disk({ '/usr/bin/pi': CLI, '/usr/bin/node': { version: 'v24.0.0' } });
    const gone = await missing(linux({ setting: '/gone/pi' }), programs);
    assert.equal(gone.missing, 'setting');
    assert.match(gone.message, /\/gone\/pi/);
    const relative = await missing(linux({ setting: 'bin/pi' }), programs);
    assert.equal(relative.missing, 'setting');
    assert.match(relative.message, /absolute/);
  });

  it('a relative entry of PATH is never looked into', async () => {
    const programs = disk({ 'bin/pi': { text: '#!/bin/sh' }, './pi': { text: '#!/bin/sh' } });
    await missing(linux({ env: { PATH: 'bin:.:' } }), programs);
  });

  const managers: [string, string, Partial<LocatorRequest>][] = [
    ['nvm', '/home/me/.nvm/versions/node/v24.3.0/bin', {}],
    ['nvm elsewhere', '/nvm/versions/node/v24.3.0/bin', { env: { PATH: '/bin', NVM_DIR: '/nvm' } }],
    ['fnm', '/home/me/.local/share/fnm/node-versions/v24.3.0/installation/bin', {}],
    ['Volta', '/home/me/.volta/tools/image/node/24.3.0/bin', {}],
    ['asdf', '/home/me/.asdf/installs/nodejs/24.3.0/bin', {}],
    ['mise', '/home/me/.local/share/mise/installs/node/24.3.0/bin', {}],
    ['an npm prefix', '/home/me/.npm-global/bin', {}],
    ['the named npm prefix', '/opt/npm/bin', { env: { PATH: '/bin', npm_config_prefix: '/opt/npm' } }],
  ];
  for (const [name, bin, over] of managers)
    it(`finds what was installed with ${name}`, async () => {
      const programs = disk({ [`${bin}/pi`]: CLI, [`${bin}/node`]: { version: 'v24.3.0' } });
      const program = await found(linux(over), programs);
      assert.equal(program.pi, `${bin}/pi`);
      assert.equal(program.command, `${bin}/node`);
    });

  it('of several Node versions of a manager the newest with Pi is taken, by number and not by name', async () => {
    const at = (v: string) => `/home/me/.nvm/versions/node/${v}/bin`;
    const programs = disk({
      [`${at('v9.11.2')}/pi`]: CLI,
      [`${at('v22.20.0')}/pi`]: CLI,
      [`${at('v22.20.0')}/node`]: { version: 'v22.20.0' },
      [`${at('v24.1.0')}/node`]: { version: 'v24.1.0' },
    });
    assert.equal((await found(linux(), programs)).pi, `${at('v22.20.0')}/pi`);
  });

  it("Volta's own folder of the package is used rather than its shim", async () => {
    const cli =
      '/home/me/.volta/tools/image/packages/@earendil-works/pi-coding-agent/lib/node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js';
    const programs = disk({
      '/home/me/.volta/bin/pi': { text: '\x7fELF' },
      [cli]: CLI,
      '/home/me/.volta/tools/image/node/24.3.0/bin/node': { version: 'v24.3.0' },
    });
    const program = await found(linux({ env: { PATH: '/home/me/.volta/bin:/bin' } }), programs);
    assert.deepEqual(program.args, [cli]);
    assert.equal(program.command, '/home/me/.volta/tools/image/node/24.3.0/bin/node');
  });

  it("pnpm's script is read for the JavaScript it starts", async () => {
    const programs = disk({
      '/usr/bin/pi': { text: '#!/bin/sh\nexec node "$basedir/../lib/pi/dist/cli.js" "$@"' },
      '/usr/lib/pi/dist/cli.js': CLI,
      '/usr/bin/node': { version: 'v24.3.0' },
    });
    assert.deepEqual((await found(linux(), programs)).args, ['/usr/lib/pi/dist/cli.js']);
  });

  it("on Windows npm's .cmd is read for the JavaScript, so no shell stands between", async () => {
    const npm = 'C:\\Users\\me\\AppData\\Roaming\\npm';
    const cli = `${npm}\\node_modules\\@earendil-works\\pi-coding-agent\\dist\\bundle\\cli.js`;
    const programs = disk(
      {
        [`${npm}\\pi.cmd`]: {
          text: '@ECHO off\r\n"%_prog%"  "%dp0%\\node_modules\\@earendil-works\\pi-coding-agent\\dist\\bundle\\cli.js" %*\r\n',
        },
        [cli]: CLI,
        'C:\\Program Files\\nodejs\\node.exe': { version: 'v24.3.0' },
      },
      path.win32,
    );
    const request = linux({
      platform: 'win32',
      home: 'C:\\Users\\me',
      env: { Path: `C:\\Program Files\\nodejs;${npm}` },
    });
    const program = await found(request, programs);
    assert.equal(program.command, 'C:\\Program Files\\nodejs\\node.exe');
    assert.deepEqual(program.args, [cli]);
  });

  it('22.19 is the oldest Node that will do', () => {
    assert.ok(runsPi([22, 19, 0]) && runsPi([23, 0, 0]) && runsPi([24, 0, 0]));
    assert.ok(!runsPi([22, 18, 9]) && !runsPi([20, 20, 2]));
  });
});
