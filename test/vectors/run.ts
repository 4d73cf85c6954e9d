import fs from 'node:fs';
import { runVectors, type Verdict } from './runner';

/** Prints the verdicts of a vector file; the exit code is 1 when one failed, 2 when the file cannot be run. */
function main(path: string | undefined): number {
  if (path === undefined) {
    console.error('Name a vector file: npm run vectors -- FILE');
    return 2;
  }
  let verdicts: Verdict[];
  try {
    verdicts = runVectors(JSON.parse(fs.readFileSync(path, 'utf8')));
  } catch (error) {
    console.error(`${path} was not run. ${error instanceof Error ? error.message : String(error)}`);
    return 2;
  }
  for (const v of verdicts) if (v.verdict === 'failed') console.log(`failed ${v.id}: ${v.why}`);
  for (const v of verdicts)
    if (v.verdict === 'overridden') console.log(`answered differently ${v.id}: ${v.why}`);
  const count = (verdict: Verdict['verdict']): number => verdicts.filter(v => v.verdict === verdict).length;
  console.log(`${count('passed')} passed, ${count('failed')} failed`);
  return count('failed') > 0 ? 1 : 0;
}

process.exitCode = main(process.argv[2]);
