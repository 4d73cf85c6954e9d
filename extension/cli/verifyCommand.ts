import { blobFaults } from '../archive/journalSurvey';
import { verifyState } from '../archive/verify';
import type { Command } from './command';
import { counted, printJson, printLines } from './print';
import { readArchive, survey } from './readArchive';

export const verifyCommand: Command = {
  name: 'verify',
  usage: 'verify DIR [--json]',
  summary: 'check everything in an archive',
  help:
    'Checks every line of the archive in DIR: lengths and checksums, the sequence, chains and keys, every original and\n' +
    'its images, and every frozen view against its hash. Writes nothing. Exits with 1 on damage and says where it is.',
  takes: ['DIR'],
  options: [],
  async run({ args, json }) {
    const archive = await readArchive(args[0] as string);
    const { dir, journal, state, tail } = archive;
    const damage: string[] = [];
    if (tail.state === 'damaged') damage.push(`${journal}, byte ${tail.offset}: ${tail.reason}`);
    const { originals, views, faults } = await verifyState(state);
    const { orphans, superseded, images } = await survey(archive);
    for (const { offset, text } of [...faults, ...(await blobFaults(images, archive.blobs))])
      damage.push(offset === undefined ? `${journal}: ${text}` : `${journal}, byte ${offset}: ${text}`);
    const torn = tail.state === 'torn' ? tail.bytes : 0;
    if (json)
      printJson({
        dir,
        ok: damage.length === 0,
        commits: state.commits,
        originals,
        views,
        images: images.length,
        orphans,
        superseded,
        torn,
        damage,
      });
    else
      printLines([
        `${counted(state.commits, 'commit')}, ${counted(originals, 'original')}, ${counted(images.length, 'image')}, ` +
          `${counted(views, 'frozen view')} checked.`,
        ...(orphans.length > 0
          ? [
              `${counted(orphans.length, 'finished message is', 'finished messages are')} on no branch: Pi ended before it kept them. They are stored.`,
            ]
          : []),
        ...(superseded > 0
          ? [
              `${counted(superseded, 'message differs', 'messages differ')} from what was first captured: Pi's own entry counts, the first text is kept.`,
            ]
          : []),
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
