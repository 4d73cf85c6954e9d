import { LinkError } from './protocol';

export interface AskOptions {
  /** Longest wait in milliseconds; absent: as long as the signal allows. */
  readonly ms?: number;
  readonly signal?: AbortSignal | undefined;
  /** What is awaited, as it stands in a sentence: "the archive's acknowledgement". */
  readonly what: string;
}

/**
 * The one way to wait for the other side. Settles with the answer, or rejects with a `LinkError`: `lost` when the
 * time is up, `cancelled` when the signal fires. Given a function, it is called with a signal that fires in both
 * cases, to cancel the request; given a promise, a later answer is dropped.
 */
export async function ask<T>(
  request: Promise<T> | ((cancelled: AbortSignal) => Promise<T>),
  { ms, signal, what }: AskOptions,
): Promise<T> {
  const cancelled = () => new LinkError('cancelled', `Waiting for ${what} was cancelled.`);
  if (signal?.aborted) {
    if (typeof request !== 'function') request.catch(() => undefined);
    throw cancelled();
  }
  const cancel = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const stopped = new Promise<never>((_, reject) => {
    const stop = (error: LinkError) => {
      reject(error);
      cancel.abort(error);
    };
    onAbort = () => stop(cancelled());
    signal?.addEventListener('abort', onAbort, { once: true });
    if (ms !== undefined)
      timer = setTimeout(
        () => stop(new LinkError('lost', `Waited ${formatTime(ms)} for ${what} in vain.`)),
        ms,
      );
  });
  try {
    const answer = typeof request === 'function' ? request(cancel.signal) : request;
    return await Promise.race([answer, stopped]);
  } finally {
    clearTimeout(timer);
    if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort);
  }
}

function formatTime(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`;
}
