import { connect, type Socket } from 'node:net';
import type { CancellationToken } from 'vscode-jsonrpc/node';
import type { Log } from '../archive/ports';
import type { TurnId } from '../archive/ids';
import type { Progress, SessionIdentity } from '../archive/requests';
import { ask } from './ask';
import { findHosts, type FoundHost } from './discovery';
import { LinkError, METHODS, PROTOCOL_VERSION, type Hello, type Owner, type PiSide } from './protocol';
import { forPeer, send } from './serveOwner';
import { HELLO_BYTES } from './frame';
import {
  parseAnswer,
  parseBindReply,
  parseDone,
  parseFrozenView,
  parseHelloReply,
  parseOpenReply,
  parseProgress,
} from './validateReplies';
import { parseSummaryRequest } from './validateRequests';
import { versionMismatch } from './version';
import { toLinkError, toResponseError } from './wireError';
import { openWire, type Wire } from './wire';

export interface ConnectOptions {
  /** The archive root. */
  readonly root: string;
  readonly session: SessionIdentity;
  readonly pi: PiSide;
  /** Longest wait in milliseconds for all hosts together. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** A run file to try first, as an archive's lock names its holder. */
  readonly prefer?: string | undefined;
  /** Asks this one process, whatever its folders, and nobody else. */
  readonly only?: FoundHost | undefined;
  readonly log?: Log;
}

/** The owner of a session's archive at the other end of a connection. */
export interface OwnerLink extends Owner {
  readonly host: { readonly pid: number; readonly name: string };
  /** Resolves when the connection is gone. Every later call rejects with `lost`. */
  readonly closed: Promise<void>;
  dispose(): void;
}

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
/** No single host may use up the time of the others. */
const MIN_TRY_MS = 500;
/** Pauses between tries, doubled each time; up to twice as long, so that those who were refused together part. */
const FIRST_PAUSE_MS = 20;
const LAST_PAUSE_MS = 160;

/**
 * Connects to the host that serves this session's folder: of several, the innermost folder's, then the newest; those
 * that don't answer are passed over. Rejects with `LinkError`: `lost` when nobody serves the folder or answers,
 * `invalid` when the versions don't fit, `cancelled`.
 */
export async function connectOwner(options: ConnectOptions): Promise<OwnerLink> {
  const { root, session, timeoutMs, signal, prefer, only } = options;
  const end = Date.now() + timeoutMs;
  const hosts: FoundHost[] = only ? [only] : [...(await findHosts(root, session.cwd))];
  if (prefer !== undefined) hosts.sort((a, b) => Number(b.file === prefer) - Number(a.file === prefer));
  let refusal: LinkError | undefined;
  for (const [i, host] of hosts.entries()) {
    const left = end - Date.now();
    if (left <= 0) break;
    const ms = Math.min(left, Math.max(MIN_TRY_MS, left / (hosts.length - i)));
    try {
      return await ask(cancelled => insist(host, options, cancelled), { ms, signal, what: 'VS Code' });
    } catch (e) {
      const error = toLinkError(e);
      if (error.code === 'cancelled') throw error;
      // A host that answered and said no tells more than one that didn't answer.
      if (error.code !== 'lost') refusal = error;
      else
        refusal ??= new LinkError(
          'lost',
          `The VS Code window that has ${session.cwd} open (process ${host.record.pid}) does not answer. Reload it.`,
        );
    }
  }
  throw (
    refusal ??
    new LinkError(
      'lost',
      `No VS Code window with Strata has ${session.cwd} open. Open that folder in VS Code.`,
    )
  );
}

/** It was there, and closed the connection without a word. */
class HungUpError extends LinkError {
  constructor() {
    super('lost', 'VS Code closed the connection.');
  }
}

/** A host holds few connections that have not said hello: when many Pis start at once, some have to come back. */
async function insist(host: FoundHost, options: ConnectOptions, signal: AbortSignal): Promise<OwnerLink> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
    try {
      return await connectTo(host, options, signal);
    } catch (e) {
      if (!(e instanceof HungUpError) || pauseMs > LAST_PAUSE_MS || signal.aborted) throw e;
    }
    await new Promise(resolve => setTimeout(resolve, pauseMs * (1 + Math.random())));
    if (signal.aborted) throw new HungUpError();
  }
}

async function connectTo(
  { record }: FoundHost,
  { session, pi, log }: ConnectOptions,
  signal: AbortSignal,
): Promise<OwnerLink> {
  const socket = await connectSocket(record.socket, signal);
  const wire = openWire(socket, { log: log ?? silent, notifications: [METHODS.prepareProgress] });
  const giveUp = () => wire.close();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    const progress = new Map<TurnId, (p: Progress) => void>();
    listenToOwner(wire, pi, progress);
    const hello: Hello = { token: record.token, version: PROTOCOL_VERSION, session };
    if (Buffer.byteLength(JSON.stringify(hello)) > HELLO_BYTES - 256)
      throw new LinkError(
        'invalid',
        'The paths of this session are too long for Strata. Use a shorter folder.',
      );
    const reply = parseHelloReply(await send(wire, METHODS.hello, hello, signal));
    if (reply === undefined)
      throw new LinkError('invalid', 'VS Code answered in a way that was not understood.');
    if (!reply.ok) throw new LinkError('invalid', reply.reason);
    const mismatch = versionMismatch({ pi: PROTOCOL_VERSION, host: reply.version });
    if (mismatch !== undefined) throw new LinkError('invalid', mismatch);
    return new RemoteOwner(wire, reply.host, progress);
  } catch (e) {
    if (wire.isClosed && !(e instanceof LinkError)) throw new HungUpError();
    wire.close();
    throw e;
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

function connectSocket(address: string, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(address);
    const fail = () => {
      socket.destroy();
      reject(new LinkError('lost', 'VS Code does not answer. Reload its window.'));
    };
    signal.addEventListener('abort', fail, { once: true });
    socket.once('error', fail);
    socket.once('connect', () => {
      signal.removeEventListener('abort', fail);
      socket.off('error', fail);
      resolve(socket);
    });
  });
}

/** What the owner may ask of this Pi. */
function listenToOwner(wire: Wire, pi: PiSide, progress: Map<TurnId, (p: Progress) => void>): void {
  wire.rpc.onRequest(METHODS.summarize, async (params: unknown, token: CancellationToken) => {
    const request = parseSummaryRequest(params);
    if (request === undefined)
      throw toResponseError(new LinkError('invalid', 'The summary request was not understood.'));
    try {
      return await forPeer(wire, token, cancelled => pi.summarize(request, cancelled));
    } catch (e) {
      throw toResponseError(e);
    }
  });
  wire.rpc.onNotification(METHODS.prepareProgress, (params: unknown) => {
    const p = parseProgress(params);
    if (p) progress.get(p.turn)?.({ done: p.done, total: p.total });
  });
  wire.rpc.listen();
}

class RemoteOwner implements OwnerLink {
  constructor(
    private readonly wire: Wire,
    readonly host: { readonly pid: number; readonly name: string },
    private readonly progress: Map<TurnId, (p: Progress) => void>,
  ) {}

  get closed(): Promise<void> {
    return this.wire.closed;
  }
  dispose(): void {
    this.wire.close();
  }
  async release(): Promise<void> {
    this.wire.close();
    await this.wire.closed;
  }

  open: Owner['open'] = signal => this.call(METHODS.open, {}, parseOpenReply, signal);
  append: Owner['append'] = async (request, signal) =>
    void (await this.call(METHODS.append, request, parseDone, signal));
  bind: Owner['bind'] = (request, signal) => this.call(METHODS.bind, request, parseBindReply, signal);
  settled: Owner['settled'] = async (request, signal) =>
    void (await this.call(METHODS.settled, request, parseDone, signal));
  zoom: Owner['zoom'] = (request, signal) => this.call(METHODS.zoom, request, parseAnswer, signal);
  date: Owner['date'] = (request, signal) => this.call(METHODS.date, request, parseAnswer, signal);
  search: Owner['search'] = (request, signal) => this.call(METHODS.search, request, parseAnswer, signal);
  status: Owner['status'] = signal => this.call(METHODS.status, {}, parseAnswer, signal);
  setMode: Owner['setMode'] = async (on, signal) =>
    void (await this.call(METHODS.mode, { on }, parseDone, signal));

  prepare: Owner['prepare'] = async (request, progress, signal) => {
    this.progress.set(request.turn, progress);
    try {
      return await this.call(METHODS.prepare, request, parseFrozenView, signal);
    } finally {
      if (this.progress.get(request.turn) === progress) this.progress.delete(request.turn);
    }
  };

  /** Rejects at once when `signal` fires, and cancels the request at the other end. */
  private async call<R>(
    method: string,
    params: object,
    parse: (reply: unknown) => R | undefined,
    signal?: AbortSignal,
  ): Promise<R> {
    let reply: unknown;
    try {
      reply = await ask(cancelled => send(this.wire, method, params, cancelled), {
        signal,
        what: `an answer to ${method}`,
      });
    } catch (e) {
      throw toLinkError(e);
    }
    const parsed = parse(reply);
    if (parsed === undefined)
      throw new LinkError(
        'invalid',
        `The answer to ${method} was not understood. Update Strata on both sides.`,
      );
    return parsed;
  }
}
