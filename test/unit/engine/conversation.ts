import { Archive, type ArchiveOptions } from '../../../extension/archive/archive';
import type { Capture, Chain, EntryId, TurnId } from '../../../extension/archive/ids';
import { ROOT_CHAIN } from '../../../extension/archive/ids';
import type { StoredMessage } from '../../../extension/archive/message';
import type { Compactor, Log } from '../../../extension/archive/ports';
import type { BindSource, FrozenView, ModelLimits } from '../../../extension/archive/requests';
import type { Sleep } from '../../../extension/archive/summaryJob';
import { MemoryBlobs } from '../../../extension/storage/memoryBlobs';
import { FaultyJournal } from './faultyJournal';

export const SILENT: Log = { info: () => {}, warn: () => {}, error: () => {} };
/** A view budget of 32,001 bytes. */
export const MODEL: ModelLimits = { name: 'test/model', window: 32_003, maxTokens: 8192 };

/** Delays between failed calls pass at once; anything longer is a time limit and never comes. */
export class TestSleep {
  readonly delays: number[] = [];
  readonly sleep: Sleep = (ms, signal) => {
    if (ms > 60_000) return new Promise(resolve => signal.addEventListener('abort', () => resolve()));
    this.delays.push(ms);
    return Promise.resolve();
  };
}

export async function openArchive(
  journal = new FaultyJournal(),
  options: Partial<ArchiveOptions> = {},
): Promise<Archive> {
  let time = 1_700_000_000_000;
  const clock = { now: () => (time += 1000) };
  return Archive.open({
    journal,
    blobs: new MemoryBlobs(),
    clock,
    log: SILENT,
    sleep: new TestSleep().sleep,
    ...options,
  });
}

export function user(text: string, timestamp = 1_700_000_000_000): StoredMessage {
  return { role: 'user', content: [{ type: 'text', text }], timestamp };
}
export function talk(text: string, timestamp = 1_700_000_000_001): StoredMessage {
  return { role: 'assistant', content: [{ type: 'text', text }], stopReason: 'stop', timestamp };
}
export function echo(text: string, timestamp = 1_700_000_000_002): StoredMessage {
  return {
    role: 'toolResult',
    toolCallId: 'c1',
    toolName: 'read',
    isError: false,
    content: [{ type: 'text', text }],
    timestamp,
  };
}
/** A text of exactly so many ASCII bytes that says which one it is. */
export function text(id: string, bytes: number): string {
  return `${id} ${'lorem ipsum '.repeat(Math.ceil(bytes / 12))}`.slice(0, bytes);
}
export function capture(ordinal: number, role = 'user', marker = 'm1'): Capture {
  return { marker, ordinal, role };
}
export function source(entry: string, message: StoredMessage): BindSource {
  return { entry: entry as EntryId, message };
}
export function sources(messages: readonly StoredMessage[], prefix = 'e'): BindSource[] {
  return messages.map((message, i) => source(`${prefix}${i}`, message));
}

/** Binds messages after a chain; gives the chain they lead to. */
export async function bind(
  archive: Archive,
  messages: readonly StoredMessage[],
  after: Chain = ROOT_CHAIN,
  prefix = 'e',
): Promise<Chain> {
  const bound = await archive.bind({ after, sources: sources(messages, prefix) });
  if (!bound.ok) throw new Error(bound.reason);
  return bound.chain;
}

export function prepare(
  archive: Archive,
  turn: string,
  chain: Chain,
  compactor: Compactor,
  options: {
    readonly model?: ModelLimits;
    readonly signal?: AbortSignal;
    readonly progress?: (p: { done: number; total: number }) => void;
  } = {},
): Promise<FrozenView> {
  return archive.prepare(
    { turn: turn as TurnId, chain, model: options.model ?? MODEL },
    compactor,
    options.progress ?? (() => {}),
    options.signal ?? new AbortController().signal,
  );
}

/** A conversation with short and long records: about one in four needs a model for its own line. */
export function longConversation(turns: number, prefix = ''): StoredMessage[] {
  const messages: StoredMessage[] = [];
  for (let i = 0; i < turns; i++) {
    messages.push(user(`${prefix}please do step ${i}`));
    messages.push(talk(text(`${prefix}answer ${i}`, 250 + ((i * 37) % 200))));
    messages.push(echo(text(`${prefix}output ${i}`, i % 2 === 0 ? 900 + i : 40)));
    messages.push(talk(`${prefix}done with ${i}`));
  }
  return messages;
}
