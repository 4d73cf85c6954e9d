import { writeSync } from 'node:fs';
import { openJournal } from '../../../extension/storage/journalOpen';

/** Appends for ever and names each acknowledged line on standard output, in one write a line. */
async function main(): Promise<void> {
  const [, , mode, name = ''] = process.argv;
  // Loaded by whoever runs every file of a folder, it is no program.
  if (mode !== 'write') return;
  const journal = await openJournal(name);
  for (let n = 0; ; n += 8) {
    const batch = Array.from({ length: 8 }, (_, i) => n + i);
    await Promise.all(
      batch.map(async i => {
        await journal.append(JSON.stringify({ i, text: 'x'.repeat(i % 3000) }));
        writeSync(1, `${i}\n`);
      }),
    );
  }
}

void main();
