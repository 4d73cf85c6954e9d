import { rebuildView } from '../archive/frozenText';
import { CliError, type Command } from './command';
import { printExact, printJson, remark } from './print';
import { readArchive, remarkOnTail } from './readArchive';

export const viewCommand: Command = {
  name: 'view',
  usage: 'view DIR TURN [--json]',
  summary: 'exactly what the model saw of the past on one turn',
  help:
    'Rebuilds the frozen view of a turn from the archive in DIR and prints it as it was sent. TURN is the number of the\n' +
    "turn, from 1, or the entry id of its run marker. Exits with 1 when the text is not the receipt's.",
  takes: ['DIR', 'TURN'],
  options: [],
  async run({ args, json }) {
    const [dir, name] = args as [string, string];
    const archive = await readArchive(dir);
    remarkOnTail(archive);
    const { state } = archive;
    // An id of digits only is possible, so a marker of that name comes first.
    const turn = state.turn(name) ?? (/^\d{1,15}$/.test(name) ? state.turn(Number(name)) : undefined);
    if (!turn) {
      const n = state.turns.length;
      throw new CliError(
        n === 0
          ? `${archive.dir} has no frozen view yet.`
          : `${archive.dir} has no turn ${JSON.stringify(name)}: give a number from 1 to ${n}, or a run marker's id.`,
      );
    }
    const { text, verified } = await rebuildView(state, turn.receipt);
    const { records, bytes, budget, sha256 } = turn.receipt;
    if (json) printJson({ turn: turn.number, id: turn.id, records, bytes, budget, sha256, verified, text });
    else printExact(text);
    if (verified) return 0;
    remark(`This is not what was sent on turn ${turn.number}: the receipt's sha256 is ${sha256}.`);
    return 1;
  },
};
