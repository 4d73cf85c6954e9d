import { CancellationTokenSource, type CancellationToken } from 'vscode-jsonrpc/node';
import type { Log, SummaryReply } from '../archive/ports';
import { ask } from './ask';
import { LinkError, METHODS, type Owner, type PiSide } from './protocol';
import { parseSummaryReply } from './validateReplies';
import {
  parseAppend,
  parseBind,
  parseDate,
  parseMode,
  parsePrepare,
  parseSearch,
  parseSettled,
  parseZoom,
} from './validateRequests';
import { isBroken, toResponseError } from './wireError';
import type { Wire } from './wire';

/** Time beyond a summary's own limit, so that Pi can say itself that the model took too long. */
const SUMMARY_SLACK_MS = 5000;

/** Answers a Pi's requests by its owner. Every parameter is validated first; every failure goes out as a code. */
export function serveOwner(wire: Wire, owner: Owner, log: Log): void {
  const on = <P, R>(
    method: string,
    parse: (params: unknown) => P | undefined,
    handle: (request: P, signal: AbortSignal) => Promise<R>,
  ) =>
    wire.rpc.onRequest(method, async (params: unknown, token: CancellationToken) => {
      try {
        const request = parse(params);
        if (request === undefined)
          throw new LinkError('invalid', `The request ${method} was not understood.`);
        return await forPeer(wire, token, signal => handle(request, signal));
      } catch (e) {
        if (!(e instanceof LinkError))
          log.error(`Link: ${method} failed: ${e instanceof Error ? (e.stack ?? e.message) : String(e)}`);
        throw toResponseError(e);
      }
    });
  const nothing = () => true;
  on(METHODS.open, nothing, (_, signal) => owner.open(signal));
  on(METHODS.append, parseAppend, (request, signal) => owner.append(request, signal));
  on(METHODS.bind, parseBind, (request, signal) => owner.bind(request, signal));
  on(METHODS.prepare, parsePrepare, (request, signal) => {
    const progress = ({ done, total }: { done: number; total: number }) => {
      if (wire.isClosed) return;
      // A lost note of progress is no failure of the turn.
      wire.rpc
        .sendNotification(METHODS.prepareProgress, { turn: request.turn, done, total })
        .catch(() => undefined);
    };
    return owner.prepare(request, progress, signal);
  });
  on(METHODS.settled, parseSettled, (request, signal) => owner.settled(request, signal));
  on(METHODS.zoom, parseZoom, (request, signal) => owner.zoom(request, signal));
  on(METHODS.date, parseDate, (request, signal) => owner.date(request, signal));
  on(METHODS.search, parseSearch, (request, signal) => owner.search(request, signal));
  on(METHODS.status, nothing, (_, signal) => owner.status(signal));
  on(METHODS.mode, parseMode, (request, signal) => owner.setMode(request.on, signal));
}

/** Does `work` for the other side, with a signal that fires when it cancels the request or is gone. */
export async function forPeer<T>(
  wire: Wire,
  token: CancellationToken,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  if (token.isCancellationRequested || wire.isClosed) abort.abort();
  const listening = token.onCancellationRequested(() => abort.abort());
  wire.working.add(abort);
  try {
    return await work(abort.signal);
  } finally {
    wire.working.delete(abort);
    listening.dispose();
  }
}

/** Sends a request that is cancelled on the other side when `signal` fires. Throws what the connection throws. */
export async function send(
  wire: Wire,
  method: string,
  params: object,
  signal: AbortSignal,
): Promise<unknown> {
  const source = new CancellationTokenSource();
  const cancel = () => {
    // There is nobody to tell any more, and the library would complain on the console.
    if (!wire.isClosed) source.cancel();
  };
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await wire.rpc.sendRequest(method, params, source.token);
  } catch (error) {
    // A socket that is gone refuses what is written a moment before it says that it is: whoever hears of the failure
    // looks at once for who is there now, and must not find the one that isn't.
    if (isBroken(error)) wire.close();
    throw error;
  } finally {
    signal.removeEventListener('abort', cancel);
    source.dispose();
  }
}

/** The Pi at the other end of a connection, for its owner. Never rejects: a lost link is a summary that failed. */
export function piSideOf(wire: Wire): PiSide {
  return {
    summarize: async (request, signal): Promise<SummaryReply> => {
      try {
        const reply = await ask(cancelled => send(wire, METHODS.summarize, request, cancelled), {
          ms: request.timeoutMs + SUMMARY_SLACK_MS,
          signal,
          what: "Pi's summary",
        });
        return (
          parseSummaryReply(reply) ?? { ok: false, reason: 'Pi gave an answer that was not understood.' }
        );
      } catch (e) {
        return { ok: false, reason: e instanceof LinkError ? e.message : 'The connection to Pi is gone.' };
      }
    },
  };
}
