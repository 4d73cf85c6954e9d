// `npm run test:electron`: the host suite in a desktop VS Code, downloaded by @vscode/test-electron or the one whose
// program VSCODE_EXECUTABLE names.
//   node scripts/electron.mjs [--version 1.N.N] [--grep PATTERN] [--built]     (--built: as it lies in out and dist)
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { QUIET_SETTINGS } from './codeServer.mjs';
import { HOST_ENTRY, builtTests } from './hostTests.mjs';
import { CACHE, SetupError, capture, die } from './install.mjs';
import { count, failuresOf, readOutcome } from './outcome.mjs';
import { ROOT, ensureModules, ensurePiProgram } from './tools.mjs';

/**
 * @param {string | undefined} version default: the newest
 * @returns {Promise<string>} the program of a desktop VS Code
 * @throws {SetupError}
 */
async function desktopCode(version) {
  const named = process.env.VSCODE_EXECUTABLE;
  if (named) {
    if (fs.existsSync(named)) return named;
    throw new SetupError(`VSCODE_EXECUTABLE names ${named}, which doesn't exist.`);
  }
  const { downloadAndUnzipVSCode } = await import('@vscode/test-electron');
  try {
    return await downloadAndUnzipVSCode({
      cachePath: path.join(CACHE, 'vscode'),
      ...(version ? { version } : {}),
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SetupError(
      `VS Code could not be downloaded (${reason}), so nothing was tested: connect to the network, or let VSCODE_EXECUTABLE name the program of an installed one.`,
    );
  }
}

async function main() {
  const { values } = parseArgs({
    options: {
      version: { type: 'string' },
      grep: { type: 'string' },
      built: { type: 'boolean', default: false },
    },
  });
  await ensureModules();
  const executable = await desktopCode(values.version);
  if (!values.built) {
    const { code, output } = await capture(process.execPath, ['esbuild.mjs', '--tests'], { cwd: ROOT });
    if (code !== 0) throw new SetupError(`The build failed, so no test ran.\n${output}`);
  }
  const piPath = await ensurePiProgram();
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'strata-electron-'));
  try {
    const at = (/** @type {string[]} */ ...parts) => path.join(home, ...parts);
    for (const folder of ['profile/User', 'extensions', 'workspace', 'agent'])
      fs.mkdirSync(at(folder), { recursive: true });
    fs.writeFileSync(at('workspace/README.md'), '# A folder\n');
    const settings = { ...QUIET_SETTINGS, 'strata.piPath': piPath };
    fs.writeFileSync(at('profile/User/settings.json'), JSON.stringify(settings, null, 2));
    // A surrounding VS Code must not take the new one for its own.
    for (const key of Object.keys(process.env)) if (/^(VSCODE_|ELECTRON_)/.test(key)) delete process.env[key];
    /** @type {string[]} */
    const problems = [];
    const { runTests } = await import('@vscode/test-electron');
    await runTests({
      vscodeExecutablePath: executable,
      extensionDevelopmentPath: ROOT,
      extensionTestsPath: HOST_ENTRY,
      launchArgs: [
        at('workspace'),
        ...['--disable-extensions', '--disable-telemetry', '--disable-gpu'],
        ...[`--user-data-dir=${at('profile')}`, `--extensions-dir=${at('extensions')}`],
      ],
      extensionTestsEnv: {
        PI_CODING_AGENT_DIR: at('agent'),
        STRATA_RESULT: at('result.json'),
        STRATA_TESTS: JSON.stringify(builtTests('host')),
        ...(values.grep === undefined ? {} : { STRATA_GREP: values.grep }),
      },
    }).catch((/** @type {unknown} */ error) => {
      problems.push(`VS Code ended badly: ${error instanceof Error ? error.message : String(error)}`);
    });
    const outcome = readOutcome(at('result.json'), '', problems);
    const { passed, failed } = count(outcome);
    // Its code also says that tests failed; that is counted already.
    const badEnd = outcome.tests.some(test => test.state === 'failed') ? problems.length : 0;
    if (failed > 0) console.log(failuresOf(outcome));
    console.log(`${passed} passed, ${failed - badEnd} failed`);
    process.exitCode = failed === 0 ? 0 : 1;
  } finally {
    fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

await main().catch(die);
