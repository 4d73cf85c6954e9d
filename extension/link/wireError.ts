import { ErrorCodes, ResponseError } from 'vscode-jsonrpc/node';
import { LinkError, type LinkErrorCode } from './protocol';

const CODES: readonly string[] = [
  'archive',
  'locked',
  'no-locks',
  'prepare',
  'invalid',
  'cancelled',
  'lost',
  'off',
] satisfies readonly LinkErrorCode[];

/** JSON-RPC's range for an application's own errors. What it means is in `data`. */
const OURS = -32000;
const MAX_REASON = 2000;

/** How a message that was not sent because of its size is told apart. */
export const TOO_LARGE =
  'This is larger than 64 MiB, more than Strata can carry between Pi and VS Code. What is stored is safe. ' +
  'Go back to before it with /tree, or go on without memory with /strata off.';

/** Takes the place of an answer that is too large, so that whoever asked does not wait for ever. */
export function tooLargeAnswer(id: unknown): object {
  const error = { code: OURS, message: TOO_LARGE, data: { code: 'invalid' satisfies LinkErrorCode } };
  return { jsonrpc: '2.0', id, error };
}

/** What an error of a handler becomes on the wire. Surprises count as a failure of the archive: memory stops. */
export function toResponseError(e: unknown): ResponseError<{ readonly code: LinkErrorCode }> {
  if (e instanceof LinkError) return new ResponseError(OURS, e.message, { code: e.code });
  const reason = e instanceof Error ? e.message : String(e);
  return new ResponseError(OURS, reason, { code: 'archive' });
}

/** Whether a request failed because the socket does not take anything any more. */
export function isBroken(e: unknown): boolean {
  return (
    e instanceof ResponseError && e.code === ErrorCodes.MessageWriteError && !e.message.includes(TOO_LARGE)
  );
}

/** What a failed request means to the one who asked. `lost` for everything that is not the other side's answer. */
export function toLinkError(e: unknown): LinkError {
  if (e instanceof LinkError) return e;
  if (e instanceof ResponseError) {
    const message = e.message.slice(0, MAX_REASON);
    const code = codeIn(e.data);
    if (code !== undefined) return new LinkError(code, message);
    if (e.message.includes(TOO_LARGE)) return new LinkError('invalid', TOO_LARGE);
    if (e.code === ErrorCodes.MethodNotFound)
      return new LinkError(
        'invalid',
        'The other side does not know this request. Update Strata on both sides.',
      );
  }
  return new LinkError(
    'lost',
    'The connection to the owner of this memory is gone. What it acknowledged is safe.',
  );
}

function codeIn(data: unknown): LinkErrorCode | undefined {
  if (typeof data !== 'object' || data === null || !('code' in data)) return undefined;
  const { code } = data;
  return typeof code === 'string' && CODES.includes(code) ? (code as LinkErrorCode) : undefined;
}
