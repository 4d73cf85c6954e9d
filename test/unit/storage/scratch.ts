import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** An empty folder for each test of the suite it is called in, removed afterwards. */
export function useScratch(): () => string {
  let folder = '';
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'strata-test-')));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  return () => folder;
}
