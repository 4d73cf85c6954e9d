import { zoom } from '../archive/retrieval';
import { wholeNumber, type Command } from './command';
import { printExact, printJson, printLines, remark } from './print';
import { branchOf, readArchive, remarkOnTail } from './readArchive';

export const zoomCommand: Command = {
  name: 'zoom',
  usage: 'zoom DIR START COUNT [--offset N] [--branch B] [--json]',
  summary: 'open a line of the memory, down to the original',
  help:
    'Opens the records START … START+COUNT-1 of the archive in DIR. A COUNT of 1 prints the original, a page at a time;\n' +
    'a larger one, a power of two that START is a multiple of, prints the lines of both halves.\n\n' +
    '  --offset N   the byte of the original to go on from\n' +
    '  --branch B   the chain of a branch, or the beginning of it (default: the one used last)',
  takes: ['DIR', 'START', 'COUNT'],
  options: ['offset', 'branch'],
  async run({ args, options, json }) {
    const [dir, startText, countText] = args as [string, string, string];
    const start = wholeNumber('START', startText);
    const count = wholeNumber('COUNT', countText);
    const offset = wholeNumber('--offset', options['offset'] ?? '0');
    const archive = await readArchive(dir);
    remarkOnTail(archive);
    const answer = await zoom(branchOf(archive, options['branch']), { start, count, offset });
    if (json) printJson(answer);
    else if ('children' in answer)
      printLines(answer.children.map(({ address, text }) => `${address}|${text}`));
    else {
      printExact(answer.text);
      if (answer.next !== null)
        remark(`There is more, up to byte ${answer.bytes}: go on with --offset ${answer.next}.`);
    }
    return 0;
  },
};
