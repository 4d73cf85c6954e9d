import { statusOf } from '../archive/status';
import type { Branch } from '../archive/branch';
import { glanceAtBlob } from '../storage/blobs';
import type { Command } from './command';
import { counted, printJson, printLines } from './print';
import { branchOf, readArchive, survey } from './readArchive';

export const statusCommand: Command = {
  name: 'status',
  usage: 'status DIR [--json]',
  summary: 'what an archive holds',
  help: 'Shows what the archive in the folder DIR holds. Takes no lock and writes nothing.',
  takes: ['DIR'],
  options: [],
  async run({ args, json }) {
    const archive = await readArchive(args[0] as string);
    const { state, config, tail } = archive;
    const damage = tail.state === 'damaged' ? `byte ${tail.offset}: ${tail.reason}` : undefined;
    const status = statusOf(state, branchOf(archive, undefined), state.mode ?? true, damage);
    const { images, superseded } = await survey(archive);
    const lost: string[] = [];
    for (const { sha256, bytes } of images) {
      const wrong = await glanceAtBlob(archive.dir, sha256, bytes);
      if (wrong !== undefined) lost.push(`${sha256}: ${wrong}`);
    }
    const branches = state.tips().map(tip => {
      const branch = state.branch(tip.chain) as Branch;
      return {
        chain: tip.chain,
        records: branch.records,
        summarized: branch.processed,
        lastEntry: tip.entry,
      };
    });
    const turns = state.turns.map(turn => ({
      number: turn.number,
      id: turn.id,
      at: new Date(turn.at).toISOString(),
      records: turn.receipt.records,
      bytes: turn.receipt.bytes,
      sha256: turn.receipt.sha256,
      sent: turn.sent ?? null,
    }));
    if (json) {
      const { sessionId, cwd, sessionFile } = config;
      printJson({
        dir: archive.dir,
        sessionId,
        cwd,
        sessionFile: sessionFile ?? null,
        ...status,
        superseded,
        images: images.length,
        lostImages: lost,
        branches,
        turns,
      });
      return 0;
    }
    printLines([
      `Session ${config.sessionId} in ${config.cwd}`,
      `  memory ${status.memory ? 'on' : 'off'}`,
      `  ${counted(status.records, 'record')}, ${status.summarized} summarised, ${counted(status.missing, 'line')} not built yet`,
      `  ${counted(status.sources, 'source')} on ${counted(branches.length, 'branch', 'branches')}, ` +
        `${counted(status.orphans, 'message')} on none`,
      ...(superseded > 0
        ? [`  ${counted(superseded, 'captured text')} superseded by Pi's own entry, and kept`]
        : []),
      ...(images.length > 0 ? [`  ${counted(images.length, 'image')}`] : []),
      `  ${counted(status.summaries.lines, 'line')} written by models`,
      ...branches.map(({ chain, records }) => `  branch ${chain}: ${counted(records, 'record')}`),
      ...turns.map(
        turn =>
          `  turn ${turn.number} (${turn.id}): ${counted(turn.records, 'record')} in ${turn.bytes} bytes`,
      ),
      ...(lost.length === 0
        ? []
        : [
            `  DAMAGED: ${counted(lost.length, 'image')} missing or of another size. Run "strata verify ${archive.dir}".`,
          ]),
      ...(damage === undefined ? [] : [`  DAMAGED at ${damage}. Run "strata verify ${archive.dir}".`]),
    ]);
    return 0;
  },
};
