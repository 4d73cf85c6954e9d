import { fields, type Fields } from './fields';

export type MessageId = string | number;

/**
 * A request, a notification or an answer of JSON-RPC 2.0 with named parameters, which are always there; undefined for
 * everything else. vscode-jsonrpc takes the shape of what it gets for granted.
 */
export function decodeMessage(bytes: Uint8Array): Fields | undefined {
  let value: Fields | undefined;
  try {
    value = fields(JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)));
  } catch {
    return undefined;
  }
  if (value?.['jsonrpc'] !== '2.0') return undefined;
  const { id, method, params, result, error } = value;
  if (typeof method === 'string') {
    if (id !== undefined && !isId(id)) return undefined;
    const named = params === undefined ? {} : fields(params);
    if (named === undefined) return undefined;
    if (method.startsWith('$/') && !(method === CANCEL && id === undefined && isId(named['id'])))
      return undefined;
    return { jsonrpc: '2.0', ...(id !== undefined && { id }), method, params: named };
  }
  if (method !== undefined || !isId(id)) return undefined;
  if (error === undefined) return result === undefined ? undefined : { jsonrpc: '2.0', id, result };
  const failure = fields(error);
  return typeof failure?.['code'] === 'number' && typeof failure['message'] === 'string'
    ? { jsonrpc: '2.0', id, error: failure }
    : undefined;
}

export const CANCEL = '$/cancelRequest';

export function isId(value: unknown): value is MessageId {
  return typeof value === 'number'
    ? Number.isSafeInteger(value)
    : typeof value === 'string' && value.length <= 64;
}
