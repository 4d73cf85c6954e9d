import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { ROOT_CHAIN, type EntryId, type SessionId, type TurnId } from '../../../extension/archive/ids';
import type { Log, SummaryReply } from '../../../extension/archive/ports';
import type { AppendRequest, PrepareRequest, SessionIdentity } from '../../../extension/archive/requests';
import type { Owner, PiSide } from '../../../extension/link/protocol';

/** An empty folder for each test of the suite it is called in, removed afterwards. */
export function useScratch(): () => string {
  let folder = '';
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'strata-test-')));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  return () => folder;
}

export function identity(cwd: string, sessionId = 'a session'): SessionIdentity {
  return { sessionId: sessionId as SessionId, cwd, sessionFile: path.join(cwd, 's.jsonl') };
}

export const APPEND: AppendRequest = {
  capture: { marker: 'm', ordinal: 0, role: 'user' },
  message: { role: 'user', content: [{ type: 'text', text: 'hello' }], timestamp: 1 },
};
export const PREPARE: PrepareRequest = {
  turn: 'a turn' as TurnId,
  chain: ROOT_CHAIN,
  model: { name: 'p/m', window: 1000, maxTokens: 100 },
};

/** An owner that does nothing well; tests replace what they are about. */
export function anOwner(parts: Partial<Owner> = {}): Owner {
  return {
    open: async () => ({ archive: 'a'.repeat(24), memory: true, chain: ROOT_CHAIN, records: 0 }),
    append: async () => undefined,
    bind: async request => ({ ok: true, chain: request.after, records: request.sources.length }),
    prepare: async ({ turn }) => ({
      turn,
      records: 1,
      blocks: ['é\n', 'b'],
      bytes: 4,
      sha256: 'f'.repeat(64),
    }),
    settled: async () => undefined,
    zoom: async request => ({ text: JSON.stringify(request) }),
    date: async request => ({ text: JSON.stringify(request) }),
    search: async request => ({ text: JSON.stringify(request) }),
    status: async () => ({ records: 3 }),
    setMode: async () => undefined,
    release: async () => undefined,
    ...parts,
  };
}

export const SUMMARY: SummaryReply = {
  ok: true,
  text: 'a line',
  model: 'p/m',
  usage: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, cost: 0.5 },
};
export const pi: PiSide = { summarize: async () => SUMMARY };

export const ENTRY = 'e1' as EntryId;

export function aLog(): Log & { readonly lines: string[] } {
  const lines: string[] = [];
  const add = (text: string) => void lines.push(text);
  return { lines, info: add, warn: add, error: add };
}

/** A connection that speaks bytes: what came back, and when it was closed. */
export class RawConnection {
  readonly socket: Socket;
  received = '';
  readonly closed: Promise<void>;
  isClosed = false;

  constructor(address: string) {
    this.socket = connect(address);
    this.socket.on('data', chunk => (this.received += chunk.toString()));
    this.socket.on('error', () => undefined);
    this.closed = new Promise(resolve =>
      this.socket.on('close', () => {
        this.isClosed = true;
        resolve();
      }),
    );
  }
  send(bytes: string | Uint8Array): void {
    this.socket.write(bytes);
  }
  /** Milliseconds until it was closed; rejects when it isn't within `limit`. */
  async closedWithin(limit: number): Promise<number> {
    const start = performance.now();
    let timer: NodeJS.Timeout | undefined;
    try {
      await Promise.race([
        this.closed,
        new Promise<never>((_, reject) => {
          timer = setTimeout(() => reject(new Error(`still open after ${limit} ms`)), limit);
        }),
      ]);
    } finally {
      clearTimeout(timer);
    }
    return performance.now() - start;
  }
}

export function frame(message: unknown): string {
  const json = JSON.stringify(message);
  return `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}

export function helloFrame(token: string, cwd: string, version = 1, id = 0): string {
  return frame({
    jsonrpc: '2.0',
    id,
    method: 'hello',
    params: { token, version, session: identity(cwd) },
  });
}

export const pause = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms));

export async function until(what: string, condition: () => boolean, limit = 5000): Promise<void> {
  for (const end = Date.now() + limit; !condition(); await pause(5))
    if (Date.now() > end) throw new Error(`not within ${limit} ms: ${what}`);
}
