import path from 'node:path';

/** Where programs may be: what the process was told, and nothing that was looked up on the disk yet. */
export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A folder whose sub-folders are versions, and the way from a version to its programs. */
interface Versions {
  readonly dir: string;
  readonly below: readonly string[];
}

/** Path rules of the machine looked at, which in a test is not the one we run on. */
export function pathsOf(where: Surroundings): path.PlatformPath {
  return where.platform === 'win32' ? path.win32 : path.posix;
}

/** The names that running `name` in a terminal would try, in order. */
export function namesOf(where: Surroundings, name: string): readonly string[] {
  return where.platform === 'win32' ? [`${name}.exe`, `${name}.cmd`, name] : [name];
}

/** Absolute folders of PATH, in order. A relative one would let the opened folder choose what we run. */
export function pathFolders(where: Surroundings): readonly string[] {
  const p = pathsOf(where);
  const value = where.env['PATH'] ?? where.env['Path'] ?? '';
  return [...new Set(value.split(p.delimiter).filter(dir => p.isAbsolute(dir)))];
}

/** Folders into which a package manager puts programs that were installed for the whole user. */
export function globalFolders(where: Surroundings): readonly string[] {
  const { env, home } = where;
  const p = pathsOf(where);
  const prefix = env['npm_config_prefix'] ?? env['NPM_CONFIG_PREFIX'];
  if (where.platform === 'win32') {
    const local = env['LOCALAPPDATA'] ?? p.join(home, 'AppData', 'Local');
    return present([
      prefix,
      p.join(env['APPDATA'] ?? p.join(home, 'AppData', 'Roaming'), 'npm'),
      env['NVM_SYMLINK'],
      env['PNPM_HOME'] ?? p.join(local, 'pnpm'),
      p.join(env['ProgramFiles'] ?? 'C:\\Program Files', 'nodejs'),
      p.join(home, '.bun', 'bin'),
    ]);
  }
  const share = env['XDG_DATA_HOME'] ?? p.join(home, '.local', 'share');
  return present([
    prefix && p.join(prefix, 'bin'),
    p.join(home, '.npm-global', 'bin'),
    p.join(home, '.local', 'bin'),
    env['PNPM_HOME'] ??
      (where.platform === 'darwin' ? p.join(home, 'Library', 'pnpm') : p.join(share, 'pnpm')),
    p.join(home, '.bun', 'bin'),
    env['N_PREFIX'] && p.join(env['N_PREFIX'], 'bin'),
    '/opt/homebrew/bin',
    '/usr/local/bin',
    '/usr/bin',
  ]);
}

/** Where nvm, fnm, Volta, asdf and mise keep one folder a Node version, each with its own global programs. */
export function versionFolders(where: Surroundings): readonly Versions[] {
  const { env, home } = where;
  const p = pathsOf(where);
  if (where.platform === 'win32') {
    const roaming = env['APPDATA'] ?? p.join(home, 'AppData', 'Roaming');
    const local = env['LOCALAPPDATA'] ?? p.join(home, 'AppData', 'Local');
    return [
      { dir: env['NVM_HOME'] ?? p.join(roaming, 'nvm'), below: [] },
      { dir: p.join(env['FNM_DIR'] ?? p.join(roaming, 'fnm'), 'node-versions'), below: ['installation'] },
      { dir: p.join(env['VOLTA_HOME'] ?? p.join(local, 'Volta'), 'tools', 'image', 'node'), below: [] },
    ];
  }
  const share = env['XDG_DATA_HOME'] ?? p.join(home, '.local', 'share');
  const fnm = present([
    env['FNM_DIR'],
    p.join(share, 'fnm'),
    p.join(home, 'Library', 'Application Support', 'fnm'),
    p.join(home, '.fnm'),
  ]);
  const at = (dir: string, ...parts: string[]) => p.join(dir, ...parts);
  return [
    { dir: at(env['NVM_DIR'] ?? at(home, '.nvm'), 'versions', 'node'), below: ['bin'] },
    ...fnm.map(dir => ({ dir: at(dir, 'node-versions'), below: ['installation', 'bin'] })),
    { dir: at(env['VOLTA_HOME'] ?? at(home, '.volta'), 'tools', 'image', 'node'), below: ['bin'] },
    { dir: at(env['ASDF_DATA_DIR'] ?? at(home, '.asdf'), 'installs', 'nodejs'), below: ['bin'] },
    { dir: at(env['MISE_DATA_DIR'] ?? at(share, 'mise'), 'installs', 'node'), below: ['bin'] },
  ];
}

/** Volta keeps a global package apart from every Node; this is the folder of Pi's. */
export function voltaPackage(where: Surroundings): string {
  const { env, home } = where;
  const p = pathsOf(where);
  const fallback =
    where.platform === 'win32'
      ? p.join(env['LOCALAPPDATA'] ?? p.join(home, 'AppData', 'Local'), 'Volta')
      : p.join(home, '.volta');
  const root = p.join(env['VOLTA_HOME'] ?? fallback, 'tools', 'image', 'packages', '@earendil-works');
  const modules = where.platform === 'win32' ? ['node_modules'] : ['lib', 'node_modules'];
  return p.join(root, 'pi-coding-agent', ...modules, '@earendil-works', 'pi-coding-agent');
}

/** Three numbers of `v24.3.0`, `24.3`, `nodejs-22.19.1`; undefined when there is no version in it. */
export function versionNumbers(text: string): readonly [number, number, number] | undefined {
  const m = /(\d+)\.(\d+)(?:\.(\d+))?/.exec(text);
  return m ? [Number(m[1]), Number(m[2]), Number(m[3] ?? 0)] : undefined;
}

/** Orders version names newest first; names without a version come last. */
export function newestFirst(a: string, b: string): number {
  const left = versionNumbers(a) ?? [-1, 0, 0];
  const right = versionNumbers(b) ?? [-1, 0, 0];
  return right[0] - left[0] || right[1] - left[1] || right[2] - left[2];
}

function present(dirs: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(dirs.filter((dir): dir is string => !!dir))];
}
