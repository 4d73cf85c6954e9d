import { hash } from 'node:crypto';
import type { ArchiveId, Chain, SessionId, SourceKey } from './ids';
import { isObject } from './json';
import type { Block, ImageBlock, StoredMessage } from './message';

/** 64 hex digits over the bytes, of a text its UTF-8 bytes. */
export function sha256Hex(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex');
}

/**
 * One text for one JSON value: names sorted by UTF-16 units, no white space, numbers and strings as `JSON.stringify`
 * writes them; a property without a JSON value is left out. Takes what `parseMessage` made, which is at most about a
 * thousand levels deep: it goes one call deeper a level, so far deeper values end in a `RangeError`.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) {
    const items: string[] = [];
    for (const item of value) items.push(canonicalJson(item));
    return `[${items.join(',')}]`;
  }
  if (isObject(value)) {
    const fields: string[] = [];
    for (const name of Object.keys(value).sort()) {
      if (value[name] !== undefined) fields.push(`${JSON.stringify(name)}:${canonicalJson(value[name])}`);
    }
    return `{${fields.join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}

/**
 * A source's identity: sha256 of the canonical JSON of what counts (design.md section 4). Usage, durations, time,
 * model, entry ids and thinking do not count, so Pi's upgrades and copies of a session leave it alone. Empty text
 * blocks do not count either: nothing remembers them.
 */
export function sourceKey(message: StoredMessage): SourceKey {
  const counts = whatCounts(message);
  return sha256Hex(hasForeignNames(message) ? canonicalJson(counts) : JSON.stringify(counts)) as SourceKey;
}

/** The name of an ancestry one source longer: the first 32 hex digits of sha256(after + key). */
export function nextChain(after: Chain, key: SourceKey): Chain {
  return sha256Hex(after + key).slice(0, 32) as Chain;
}

/** Names a session's archive folder. `cwd` is the real path; the same session id is legal in two projects. */
export function archiveIdFor(cwd: string, sessionId: SessionId): ArchiveId {
  return sha256Hex(`${cwd}\0${sessionId}`).slice(0, 24) as ArchiveId;
}

/**
 * A change of these shapes changes every key and so every archive: never without a new format version. Names stand in
 * canonical order, so that `JSON.stringify` writes what `canonicalJson` would, and faster.
 */
function whatCounts(message: StoredMessage): object {
  const { role } = message;
  switch (role) {
    case 'user':
    case 'custom':
      return { content: contentThatCounts(message.content), role };
    case 'assistant': {
      const failed = message.stopReason === 'error' || message.stopReason === 'aborted';
      return {
        content: contentThatCounts(message.content),
        failed: failed ? message.stopReason : null,
        role,
      };
    }
    case 'toolResult':
      return {
        call: message.toolCallId,
        content: contentThatCounts(message.content),
        error: message.isError,
        role,
        tool: message.toolName,
      };
    case 'bashExecution':
      return {
        cancelled: message.cancelled,
        command: message.command,
        exitCode: message.exitCode ?? null,
        fullOutputPath: message.fullOutputPath ?? null,
        output: message.output,
        role,
        truncated: message.truncated,
      };
    case 'branchSummary':
      return { role, summary: message.summary };
  }
}

/** Arguments of a tool call have names of any kind, in any order. */
function hasForeignNames(message: StoredMessage): boolean {
  return 'content' in message && message.content.some(({ type }) => type === 'toolCall');
}

function contentThatCounts(content: readonly Block[]): object[] {
  const counted: object[] = [];
  for (const block of content) {
    switch (block.type) {
      case 'text':
        if (block.text !== '') counted.push({ text: block.text });
        break;
      case 'image':
        counted.push({ image: imageHash(block) });
        break;
      case 'toolCall':
        counted.push({ call: block.id, tool: block.name, arguments: block.arguments });
        break;
      case 'other':
        counted.push({ other: block.name });
        break;
    }
  }
  return counted;
}

/** Over the decoded bytes, so that two ways of writing the same base64, and a blob of the same bytes, are one image. */
function imageHash(image: ImageBlock): string {
  return 'data' in image ? sha256Hex(Buffer.from(image.data, 'base64')) : image.sha256;
}
