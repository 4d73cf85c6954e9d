// The user's own VS Code, with a profile that is the demo's alone.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { must } from '../install.mjs';

/**
 * The `code` on PATH, unless STRATA_EDITOR asks for code-server or it is the remote helper of a VS Code terminal.
 * @returns {string | undefined}
 */
export function findCode() {
  if (process.env['STRATA_EDITOR'] === 'code-server') return undefined;
  const name = process.platform === 'win32' ? 'code.cmd' : 'code';
  return (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .filter(folder => path.isAbsolute(folder))
    .map(folder => path.join(folder, name))
    .find(file => fs.existsSync(file) && !fs.realpathSync(file).includes('remote-cli'));
}

/**
 * Where a `code` has its `node_modules`.
 * @param {string} code
 */
export function appRootOf(code) {
  const bin = path.dirname(fs.realpathSync(code));
  return (
    [path.join(bin, '../resources/app'), path.join(bin, '..')].find(folder =>
      fs.existsSync(path.join(folder, 'node_modules')),
    ) ?? bin
  );
}

/**
 * Opens the window and resolves when it is closed.
 * @param {string} code
 * @param {{home: string, folder: string, vsix: string, settings: Record<string, unknown>, env: NodeJS.ProcessEnv}} options
 */
export async function openDesktop(code, { home, folder, vsix, settings, env }) {
  const profile = path.join(home, 'profile');
  fs.mkdirSync(path.join(profile, 'User'), { recursive: true });
  fs.writeFileSync(path.join(profile, 'User/settings.json'), JSON.stringify(settings, null, 2));
  // With folders of its own it is another VS Code than the one that may be running, and takes this environment.
  const own = ['--user-data-dir', profile, '--extensions-dir', path.join(home, 'extensions')];
  const shell = process.platform === 'win32';
  const options = { env: { ...process.env, ...env }, shell };
  await must('the extension in VS Code', code, [...own, '--install-extension', vsix, '--force'], {
    ...options,
    advice: 'Set STRATA_EDITOR=code-server to use a VS Code in the browser, and run the command again',
  });
  const args = [
    ...own,
    '--disable-workspace-trust',
    '--skip-welcome',
    '--skip-release-notes',
    '--new-window',
  ];
  const child = spawn(code, [...args, '--wait', folder], { ...options, stdio: 'ignore' });
  await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
}
