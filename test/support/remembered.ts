import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { sourcesOf } from '../../extension/archive/ancestry';
import type { SessionEntry } from '../../extension/archive/entry';
import { recordsOf } from '../../extension/archive/normalise';
import { rawText } from '../../extension/archive/record';
import { linesOf, parseSessionFile, pathTo } from '../../extension/archive/sessionFile';
import { oneLine } from '../../extension/archive/text';
import { readArchive, survey } from '../../extension/cli/readArchive';
import { viewOf, type Received } from './pi';

/** The lines of the memory that a request carries, without their addresses; each must be one record's own. */
export function rememberedIn(request: Received | undefined): string[] {
  assert.ok(request, 'no request');
  const lines = (viewOf(request) ?? '').split('\n').slice(1, -1);
  return lines.map((line, at) => {
    const [, start, text] = /^(\d+)\+1\|(.*)$/.exec(line) ?? assert.fail(`not one record: ${line}`);
    assert.equal(Number(start), at);
    return text ?? '';
  });
}

/** What Pi's session file holds of the branch it would continue, before its newest turn: a line for each record. */
export function storedBeforeLastTurn(sessionFile: string): string[] {
  const file = parseSessionFile(linesOf(readFileSync(sessionFile)));
  const leaf = file?.nodes.at(-1) ?? assert.fail('no session');
  const path = pathTo(leaf);
  return recordsIn(path.slice(0, path.findLastIndex(isRunMarker)));
}

/** The roles of the messages that an archive has on no branch. */
export async function orphansOf(archive: string): Promise<string[]> {
  const { orphans } = await survey(await readArchive(archive));
  return orphans.map(({ role }) => role);
}

function recordsIn(path: readonly SessionEntry[]): string[] {
  return sourcesOf(path).flatMap(({ message }) => recordsOf(message).map(record => oneLine(rawText(record))));
}

function isRunMarker(entry: SessionEntry): boolean {
  return entry.type === 'custom' && entry.customType === 'strata.run';
}
