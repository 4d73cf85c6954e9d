import {
  globalFolders,
  namesOf,
  newestFirst,
  pathFolders,
  pathsOf,
  versionFolders,
  versionNumbers,
  voltaPackage,
  type Surroundings,
} from './programSearch';

/** What the locator asks of the disk and of programs. Nothing here throws: what cannot be read is absent. */
export interface Programs {
  isFile(file: string): Promise<boolean>;
  /** Names in a folder; empty when there is no such folder. */
  list(dir: string): Promise<readonly string[]>;
  /** The file behind links; the given path when there is none. */
  realPath(file: string): Promise<string>;
  /** At most the first `bytes` bytes of a file as text. */
  head(file: string, bytes: number): Promise<string>;
  /** What `file --version` prints, or undefined when it cannot be run. */
  version(file: string, env: Readonly<Record<string, string>>): Promise<string | undefined>;
}

export interface LocatorRequest extends Surroundings {
  /** `strata.piPath`; empty means: find it. */
  readonly setting: string;
  /** The program that runs this extension host, and whether it is Electron. */
  readonly host: { readonly execPath: string; readonly electron: boolean };
}

/** How to start Pi: `command` with `args` before Pi's own, and `env` added to the terminal's environment. */
export interface PiCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The file that was found, for people. */
  readonly pi: string;
}
export type Located =
  | { readonly found: true; readonly program: PiCommand }
  /** `message` says what is missing and what to do about it. */
  | { readonly found: false; readonly missing: 'setting' | 'pi' | 'node'; readonly message: string };

/** The oldest Node that Pi runs on (its package's `engines`). */
export const OLDEST_NODE = [22, 19] as const;
export const INSTALL_PI = 'npm install -g @earendil-works/pi-coding-agent';
const HEAD_BYTES = 4096;

/**
 * Finds Pi and a Node that can run it. A JavaScript Pi is never started through its first line, which would take
 * whatever `node` comes first on PATH and close the terminal without a word when that one is too old. Anything else
 * (a wrapper, a compiled program) is run as it is.
 */
export async function locatePi(request: LocatorRequest, programs: Programs): Promise<Located> {
  const named = request.setting && expandHome(request, request.setting);
  if (named && !pathsOf(request).isAbsolute(named))
    return {
      found: false,
      missing: 'setting',
      message: `The setting strata.piPath is "${named}", which isn't an absolute path. Write the whole path, or empty the setting to let Strata look for Pi.`,
    };
  const candidates = named ? [named] : await piCandidates(request, programs);
  for (const pi of candidates) {
    if (!(await programs.isFile(pi))) continue;
    const script = await scriptBehind(request, pi, programs);
    if (!script) return { found: true, program: { command: pi, args: [], env: {}, pi } };
    return withNode(request, pi, script, programs);
  }
  if (named)
    return {
      found: false,
      missing: 'setting',
      message: `The setting strata.piPath names ${named}, and there is no such file. Correct the setting, or empty it to let Strata look for Pi.`,
    };
  return {
    found: false,
    missing: 'pi',
    message: `Pi was not found on PATH, nor where npm, pnpm, nvm, fnm, Volta, asdf and mise put programs. Install it with "${INSTALL_PI}", or name it in the setting strata.piPath.`,
  };
}

async function piCandidates(request: LocatorRequest, programs: Programs): Promise<readonly string[]> {
  const p = pathsOf(request);
  const folders = [
    ...pathFolders(request).filter(dir => !isShimFolder(request, dir)),
    ...(await versionBins(request, programs)),
    ...globalFolders(request),
  ];
  const volta = p.join(voltaPackage(request), 'dist', 'bundle', 'cli.js');
  // A manager's shim comes last: what it starts depends on the folder it is called in.
  const shims = pathFolders(request).filter(dir => isShimFolder(request, dir));
  const inFolder = (dir: string) => namesOf(request, 'pi').map(name => p.join(dir, name));
  return [...new Set([...folders.flatMap(inFolder), volta, ...shims.flatMap(inFolder)])];
}

/** Program folders of every Node that a version manager installed, newest Node first within a manager. */
async function versionBins(request: LocatorRequest, programs: Programs): Promise<readonly string[]> {
  const p = pathsOf(request);
  const found: string[] = [];
  for (const { dir, below } of versionFolders(request))
    for (const version of [...(await programs.list(dir))].sort(newestFirst))
      if (versionNumbers(version)) found.push(p.join(dir, version, ...below));
  return found;
}

/** The JavaScript that a found `pi` leads to; undefined when it is a program of its own. */
async function scriptBehind(
  request: LocatorRequest,
  pi: string,
  programs: Programs,
): Promise<string | undefined> {
  const p = pathsOf(request);
  const real = await programs.realPath(pi);
  if (/\.[cm]?js$/i.test(real)) return real;
  const head = await programs.head(real, HEAD_BYTES);
  if (/^#!.*\bnode\b/.test(firstLine(head))) return real;
  // npm on Windows and pnpm everywhere write a small script that names the JavaScript relative to itself.
  const shim = /["'](?:%~?dp0%?|\$basedir)[\\/]+([^"'\r\n]+\.[cm]?js)["']/i.exec(head)?.[1];
  if (shim === undefined) return undefined;
  const script = p.join(p.dirname(real), ...shim.split(/[\\/]+/));
  return (await programs.isFile(script)) ? script : undefined;
}

async function withNode(
  request: LocatorRequest,
  pi: string,
  script: string,
  programs: Programs,
): Promise<Located> {
  const p = pathsOf(request);
  const tooOld: string[] = [];
  const asked = new Set<string>();
  const fits = async (node: string, env: Readonly<Record<string, string>>) => {
    const real = await programs.realPath(node);
    if (asked.has(real)) return false;
    asked.add(real);
    const version = versionNumbers((await programs.version(node, env)) ?? '');
    if (version && runsPi(version)) return true;
    if (version) tooOld.push(`${node} is ${version.join('.')}`);
    return false;
  };
  const beside = [p.dirname(pi), ...prefixBin(request, script)];
  const nodes = [...beside, ...pathFolders(request), ...(await versionBins(request, programs))]
    .flatMap(dir => namesOf(request, 'node').map(name => p.join(dir, name)))
    .filter(file => !/\.cmd$/i.test(file));
  for (const node of new Set(nodes))
    if ((await programs.isFile(node)) && (await fits(node, {})))
      return { found: true, program: { command: node, args: [script], env: {}, pi } };
  const { execPath, electron } = request.host;
  const env: Readonly<Record<string, string>> = electron ? { ELECTRON_RUN_AS_NODE: '1' } : {};
  if (await fits(execPath, env))
    return { found: true, program: { command: execPath, args: [script], env, pi } };
  const seen = tooOld.length ? ` Found only older ones: ${tooOld.join('; ')}.` : '';
  return {
    found: false,
    missing: 'node',
    message: `Pi is here (${pi}), but it needs Node ${OLDEST_NODE.join('.')} or newer.${seen} Install a newer Node, or let strata.piPath name a program that starts Pi with one.`,
  };
}

/** The program folder of the prefix that a global package was installed under, when the path tells. */
function prefixBin(request: Surroundings, script: string): readonly string[] {
  const p = pathsOf(request);
  const modules = request.platform === 'win32' ? '\\node_modules\\' : '/lib/node_modules/';
  const at = script.indexOf(modules);
  if (at < 0) return [];
  return [request.platform === 'win32' ? script.slice(0, at) : p.join(script.slice(0, at), 'bin')];
}

/** Whether this Node can run Pi. */
export function runsPi([major, minor]: readonly [number, number, number]): boolean {
  return major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
}

function isShimFolder(request: Surroundings, dir: string): boolean {
  const p = pathsOf(request);
  return p.basename(dir) === 'shims' || /[\\/]\.?volta[\\/]bin$/i.test(dir);
}

function expandHome(request: Surroundings, file: string): string {
  const p = pathsOf(request);
  return /^~[\\/]/.test(file) ? p.join(request.home, file.slice(2)) : file;
}

function firstLine(text: string): string {
  return text.slice(0, text.search(/\r?\n|$/));
}
