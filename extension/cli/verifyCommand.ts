import { verifyState } from '../archive/verify';
import type { Command } from './command';
import { counted, printJson, printLines } from './print';
import { readArchive } from './readArchive';

export const verifyCommand: Command = {
  name: 'verify',
  usage: 'verify DIR [--json]',
  summary: 'check everything in an archive',
  help:
    'Checks every line of the archive in DIR: lengths and checksums, the sequence, chains and keys, every original, and\n' +
    'every frozen view against its hash. Writes nothing. Exits with 1 on damage and says where it is.',
  takes: ['DIR'],
  options: [],
  async run({ args, json }) {
    const { dir, journal, state, tail } = await readArchive(args[0] as string);
    const damage: string[] = [];
    if (tail.state === 'damaged') damage.push(`${journal}, byte ${tail.offset}: ${tail.reason}`);
    const { originals, views, faults } = await verifyState(state);
    for (const { offset, text } of faults)
      damage.push(offset === undefined ? `${journal}: ${text}` : `${journal}, byte ${offset}: ${text}`);
    const torn = tail.state === 'torn' ? tail.bytes : 0;
    if (json)
      printJson({ dir, ok: damage.length === 0, commits: state.commits, originals, views, torn, damage });
    else
      printLines([
        `${counted(state.commits, 'commit')}, ${counted(originals, 'original')}, ${counted(views, 'frozen view')} checked.`,
        ...(torn > 0
          ? [
              `The last ${counted(torn, 'byte')} of ${journal} are a line that is not finished: it was never acknowledged.`,
            ]
          : []),
        ...(damage.length === 0 ? ['No damage.'] : ['DAMAGED:', ...damage.map(text => `  ${text}`)]),
      ]);
    return damage.length === 0 ? 0 : 1;
  },
};
