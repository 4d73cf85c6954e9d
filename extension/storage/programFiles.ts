import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';

const VERSION_TIME_LIMIT_MS = 5000;

/** Looks at programs on this machine's disk. Never throws: what cannot be read or run is absent. */
export const programFiles = {
  async isFile(file: string): Promise<boolean> {
    try {
      return (await fs.stat(file)).isFile();
    } catch {
      return false;
    }
  },

  async list(dir: string): Promise<readonly string[]> {
    try {
      return await fs.readdir(dir);
    } catch {
      return [];
    }
  },

  async realPath(file: string): Promise<string> {
    try {
      return await fs.realpath(file);
    } catch {
      return file;
    }
  },

  async head(file: string, bytes: number): Promise<string> {
    try {
      const handle = await fs.open(file, 'r');
      try {
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, 0);
        return buffer.toString('latin1', 0, bytesRead);
      } finally {
        await handle.close();
      }
    } catch {
      return '';
    }
  },

  /** The output of `file --version`; undefined when it fails, takes longer than 5 s or cannot be run. */
  version(file: string, env: Readonly<Record<string, string>>): Promise<string | undefined> {
    return new Promise(resolve => {
      execFile(
        file,
        ['--version'],
        { env: { ...process.env, ...env }, timeout: VERSION_TIME_LIMIT_MS, windowsHide: true },
        (error, stdout) => resolve(error ? undefined : stdout.trim()),
      );
    });
  },
};
