import { lstat, mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { atomicWrite } from './atomicFile';
import { errorCode } from './disk';
import { privateFolder } from './privateFolder';

/** The first line of our loader begins with this; a `strata.js` without it is somebody else's. */
const MARK = "// Strata's loader for Pi";
const LOADER = 'loader.mjs';
const MAX_LOADER_BYTES = 256 * 1024;

export interface PiInstallOptions {
  /** Pi's own folder. */
  readonly agentDir: string;
  /** The archive root. */
  readonly root: string;
  readonly version: string;
  /** The folder of built bundles: `pi/index.cjs`, `pi/native/`, `pi/loader.mjs` below it. */
  readonly distDir: string;
}
export type PiInstalled =
  | { readonly state: 'missing' }
  /** `version` and `bundle` as the loader names them; `bundle` may be gone. */
  | {
      readonly state: 'installed';
      readonly version: string;
      readonly bundle: string;
      readonly complete: boolean;
    }
  | { readonly state: 'foreign'; readonly file: string };
export type PiInstallResult =
  | { readonly state: 'installed' | 'unchanged'; readonly version: string; readonly loader: string }
  /** Somebody else's file has the loader's name. Nothing was written. */
  | { readonly state: 'foreign'; readonly reason: string };

export function loaderPath(agentDir: string): string {
  return path.join(agentDir, 'extensions', 'strata.js');
}

/**
 * Puts the Pi extension where Pi finds it: the bundle with its native files into `<root>/pi/<version>/`, then the
 * loader, which names the bundle's absolute path, into Pi's extensions folder. Each file is replaced as a whole, the
 * loader last, so a Pi that starts meanwhile finds the old or the new extension. Throws the system's error.
 */
export async function installPiExtension(options: PiInstallOptions): Promise<PiInstallResult> {
  const loader = loaderPath(options.agentDir);
  if ((await installedPiExtension(options.agentDir)).state === 'foreign')
    return {
      state: 'foreign',
      reason:
        `${loader} exists and was not written by Strata. Nothing was changed. ` +
        'Move it away and install again.',
    };
  const from = path.join(options.distDir, 'pi');
  const to = path.join(options.root, 'pi', options.version);
  await privateFolder(options.root);
  let changed = false;
  const names = (await readdir(from, { recursive: true, withFileTypes: true }))
    .filter(e => e.isFile() && e.name !== LOADER && !e.name.endsWith('.map'))
    .map(e => path.relative(from, path.join(e.parentPath, e.name)))
    // The bundle after what it needs.
    .sort((a, b) => Number(a === 'index.cjs') - Number(b === 'index.cjs'));
  for (const name of names)
    changed = (await replace(path.join(to, name), await readFile(path.join(from, name)))) || changed;
  const text = fill(
    await readFile(path.join(from, LOADER), 'utf8'),
    path.join(to, 'index.cjs'),
    options.version,
  );
  changed = (await replace(loader, Buffer.from(text))) || changed;
  return { state: changed ? 'installed' : 'unchanged', version: options.version, loader };
}

/** Whether the loader in Pi's folder is ours, and what it loads. Writes nothing. */
export async function installedPiExtension(agentDir: string): Promise<PiInstalled> {
  const file = loaderPath(agentDir);
  const text = await readLoader(file);
  if (text === undefined) return { state: 'missing' };
  const bundle = constant(text, 'BUNDLE');
  const version = constant(text, 'VERSION');
  if (!text.startsWith(MARK) || bundle === undefined || version === undefined)
    return { state: 'foreign', file };
  return { state: 'installed', version, bundle, complete: await exists(bundle) };
}

/** Undefined when there is none; empty, so never ours, for what is no readable text file of a loader's size. */
async function readLoader(file: string): Promise<string | undefined> {
  try {
    const stats = await lstat(file);
    return stats.isFile() && stats.size <= MAX_LOADER_BYTES ? await readFile(file, 'utf8') : '';
  } catch (e) {
    if (errorCode(e) === 'ENOENT') return undefined;
    throw e;
  }
}

function fill(loader: string, bundle: string, version: string): string {
  const filled = loader
    .replace(/(["'])__STRATA_BUNDLE__\1/g, () => JSON.stringify(bundle))
    .replace(/(["'])__STRATA_VERSION__\1/g, () => JSON.stringify(version));
  if (!filled.startsWith(MARK) || constant(filled, 'BUNDLE') !== bundle)
    throw new Error('The loader in this build of Strata has lost its first line or its places to fill in.');
  return filled;
}

/** The value of `const NAME = "…"` as `fill` writes it. */
function constant(loader: string, name: string): string | undefined {
  const literal = new RegExp(`^const ${name} = ("(?:[^"\\\\\\n]|\\\\.)*");$`, 'm').exec(loader)?.[1];
  if (literal === undefined) return undefined;
  const value: unknown = JSON.parse(literal);
  return typeof value === 'string' ? value : undefined;
}

/** True when the file did not have this content yet. */
async function replace(file: string, content: Buffer): Promise<boolean> {
  const present = await readFile(file).catch(() => undefined);
  if (present?.equals(content)) return false;
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await atomicWrite(file, content);
  return true;
}

async function exists(file: string): Promise<boolean> {
  return (await lstat(file).catch(() => undefined))?.isFile() ?? false;
}
