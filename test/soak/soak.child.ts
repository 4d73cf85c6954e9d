import { soak } from './soak';

/** `node soak.child.cjs run SEED TURNS`: prints what was done, then what is broken, and ends with 1 when something is. */
async function main(): Promise<void> {
  const [, , mode, seed = '1', turns = '100'] = process.argv;
  // Loaded by whoever runs every file of a folder, it is no program.
  if (mode !== 'run') return;
  const { broken, ...report } = await soak({
    seed: Number(seed),
    turns: Number(turns),
    progress: text => console.log(text),
  });
  console.log(JSON.stringify({ seed: Number(seed), turns: Number(turns), ...report }, null, 2));
  for (const text of broken) console.log(`BROKEN ${text}`);
  console.log(`${turns} turns, ${broken.length} promises broken`);
  process.exit(broken.length > 0 ? 1 : 0);
}

void main();
