// better-sqlite3, to be compared with: for developers only, so it is no dependency and is set up when a bench asks.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { cached, npm, npmEnv } from '../install.mjs';
import { ensureBuildTools } from '../programs.mjs';
import { ensureNodeHeaders } from '../tools.mjs';

const VERSION = '12.9.0';

/**
 * @typedef {object} Database the part that is used here
 * @property {(sql: string) => unknown} pragma
 * @property {(sql: string) => unknown} exec
 * @property {(sql: string) => {run: (...values: unknown[]) => unknown}} prepare
 * @property {() => void} close
 */

/**
 * @returns {Promise<(file: string) => Database>} opens a database of this process's Node
 * @throws {import('../install.mjs').SetupError} when it can be neither downloaded nor built here
 */
export async function ensureSqlite() {
  const name = `better-sqlite3-${VERSION}-abi${process.versions.modules}`;
  const folder = await cached(name, '1', `better-sqlite3 ${VERSION}`, async half => {
    fs.writeFileSync(path.join(half, 'package.json'), '{"private":true}\n');
    const what = `better-sqlite3 ${VERSION}`;
    await npm(what, ['install', '--ignore-scripts', '--save-exact', `better-sqlite3@${VERSION}`], half);
    await ensureBuildTools();
    // Its install script takes a binary from GitHub, else it builds one with node-gyp; that needs Node's headers.
    const env = { ...npmEnv(), npm_config_nodedir: await ensureNodeHeaders() };
    await npm(`the native part of ${what}`, ['rebuild', 'better-sqlite3'], half, env);
  });
  const load = createRequire(path.join(folder, 'package.json'));
  /** @type {new (file: string) => Database} */
  const Sqlite = load('better-sqlite3');
  return file => new Sqlite(file);
}
