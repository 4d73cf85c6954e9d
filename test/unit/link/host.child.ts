import { startLinkServer } from '../../../extension/link/server';
import { anOwner } from './pieces';

/** A host of the folder FOLDER for the archive root ROOT whose appends are never answered. */
async function main(): Promise<void> {
  const [, , mode, root = '', folder = ''] = process.argv;
  // Loaded by whoever runs every file of a folder, it is no program.
  if (mode !== 'serve') return;
  const silent = () => undefined;
  await startLinkServer({
    root,
    folders: [folder],
    accept: async () =>
      anOwner({
        append: () => {
          process.stdout.write('append\n');
          return new Promise<never>(silent);
        },
      }),
    log: { info: silent, warn: silent, error: silent },
  });
  process.stdout.write('listening\n');
}

void main();
