import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { readArchive } from '../../extension/cli/readArchive';
import type { PiRpc } from './piRpc';
import type { Received, Sandbox } from './pi';

/** The process that an archive's lock names; undefined when it names none. */
export function ownerOf(archive: string): number | undefined {
  const text = readFileSync(path.join(archive, 'lock'), 'utf8');
  return text === '' ? undefined : (JSON.parse(text) as { pid: number }).pid;
}

/** The only archive of a sandbox. */
export function onlyArchive(box: Sandbox): string {
  assert.equal(box.archives.length, 1);
  return box.archives[0] ?? assert.fail();
}

/** The raw text of every record on an archive's newest branch, as it is read from the disk. */
export async function recordsOf(archive: string): Promise<string[]> {
  const { state } = await readArchive(archive);
  const branch = state.branch(state.newest) ?? assert.fail();
  return Promise.all(Array.from({ length: branch.records }, (_, record) => branch.raw(record)));
}

/** The bytes of the message that carries the view, as they stood in the request. */
export function viewBytes(request: Received): string {
  const { messages } = request.body as { messages: { role: string; content: unknown }[] };
  return JSON.stringify(messages.find(message => message.role === 'user'));
}

/** Starts a prompt and resolves while its tool call runs; gives the number of the first event. */
export async function startTool(pi: PiRpc, prompt: string): Promise<number> {
  const from = pi.events.length;
  await pi.start(prompt);
  await pi.until('the tool', event => event.type === 'tool_execution_start', 15_000, from);
  return from;
}

/** Waits for the end of a turn that began with that event. */
export async function settled(pi: PiRpc, from: number, ms = 20_000): Promise<void> {
  await pi.until('the end of the turn', event => event.type === 'agent_settled', ms, from);
}

/** Pi's line of ours in its footer, as it is now. */
export function footerIn(pi: PiRpc): string {
  return String(pi.events.findLast(event => event['method'] === 'setStatus')?.['statusText']);
}

/** Nothing of ours threw inside Pi. */
export function assertNoErrors(pi: PiRpc): void {
  assert.deepEqual(
    pi.events.filter(event => event.type === 'extension_error'),
    [],
  );
}
