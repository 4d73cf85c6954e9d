import { isObject, plainJson, wellFormed } from './json';
import type { AssistantMessage, BashMessage, Block, ImageBlock, StoredMessage } from './message';

/** Where ECMAScript's dates end, in milliseconds: a time beyond cannot be shown. */
const LAST_TIME = 8.64e15;
/** Thinking has a name for each provider and none of them may get through. */
const THINKING = /think|reason/i;
/** What may stand in a presence marker. Anything else could pass for text of the conversation. */
const BLOCK_NAME = /^[A-Za-z0-9_.-]{1,64}$/;

const SHA256 = /^[0-9a-f]{64}$/;

type Fields = { readonly [name: string]: unknown };

/** Where a message comes from. Only a journal may name an image's blob: elsewhere that would be a claim about files. */
export type Door = 'outside' | 'journal';

/**
 * The only door for messages: from Pi, a session file, the link or a journal, any value goes in; out comes what an
 * archive keeps, or undefined when that is nothing (system messages, compaction summaries, shell commands kept from
 * the model, unknown roles). Never throws, and its own output passes through unchanged.
 *
 * Thinking and its signatures, usage, prices and provider fields are dropped (spec/archive.md 1.2); a text given for
 * content becomes one block; a time is a number of milliseconds or an ISO text, else 0; lone surrogates become U+FFFD
 * (see `wellFormed`).
 */
export function parseMessage(value: unknown, door: Door = 'outside'): StoredMessage | undefined {
  if (!isObject(value)) return undefined;
  const timestamp = parseTime(value['timestamp']);
  switch (value['role']) {
    case 'user':
      return { role: 'user', content: parseContent(value['content'], door), timestamp };
    case 'assistant':
      return parseAssistant(value, timestamp, door);
    case 'toolResult':
      return {
        role: 'toolResult',
        toolCallId: textOr(value['toolCallId'], ''),
        toolName: textOr(value['toolName'], '') || 'tool',
        isError: value['isError'] === true,
        content: parseContent(value['content'], door),
        timestamp,
      };
    case 'bashExecution':
      return parseBash(value, timestamp);
    case 'custom':
    // What session files of format 2 call a custom message.
    case 'hookMessage':
      return {
        role: 'custom',
        customType: textOr(value['customType'], ''),
        content: parseContent(value['content'], door),
        timestamp,
      };
    case 'branchSummary':
      return { role: 'branchSummary', summary: textOr(value['summary'], ''), timestamp };
    default:
      return undefined;
  }
}

/** Milliseconds since 1970 of a number or an ISO text; 0 for anything that is no time. */
export function parseTime(value: unknown): number {
  const time = typeof value === 'string' ? Date.parse(value) : value;
  return typeof time === 'number' && Math.abs(time) <= LAST_TIME ? Math.trunc(time) + 0 : 0;
}

/** The blocks of a message's content, a text or a list of blocks in Pi's form, without thinking. */
export function parseContent(value: unknown, door: Door = 'outside'): Block[] {
  if (typeof value === 'string') return [{ type: 'text', text: wellFormed(value) }];
  if (!Array.isArray(value)) return [];
  const blocks: Block[] = [];
  for (const item of value as unknown[]) {
    const block = parseBlock(item, door);
    if (block) blocks.push(block);
  }
  return blocks;
}

function parseBlock(value: unknown, door: Door): Block | undefined {
  if (typeof value === 'string') return { type: 'text', text: wellFormed(value) };
  if (!isObject(value)) return undefined;
  const { type } = value;
  // Pi tolerates blocks without their text in files edited by hand; there is nothing to keep.
  if (type === 'text')
    return typeof value['text'] === 'string' ? { type, text: wellFormed(value['text']) } : undefined;
  if (type === 'image') {
    const image = parseImage(value, door);
    if (image) return image;
  }
  if (type === 'toolCall' && typeof value['name'] === 'string')
    return {
      type,
      id: textOr(value['id'], ''),
      name: wellFormed(value['name']),
      arguments: plainJson(value['arguments']) ?? {},
    };
  // The last is how this parser's own output names a block it did not know.
  const name = type === 'other' ? value['name'] : type;
  if (typeof name !== 'string' || !BLOCK_NAME.test(name)) return { type: 'other', name: 'unknown' };
  return THINKING.test(name) ? undefined : { type: 'other', name };
}

function parseImage(value: Fields, door: Door): ImageBlock | undefined {
  const { data, sha256, bytes } = value;
  const head = { type: 'image', mimeType: textOr(value['mimeType'], '') } as const;
  if (typeof data === 'string') return { ...head, data: wellFormed(data) };
  if (door === 'outside' || typeof sha256 !== 'string' || !SHA256.test(sha256)) return undefined;
  return typeof bytes === 'number' && Number.isSafeInteger(bytes) && bytes >= 0
    ? { ...head, sha256, bytes }
    : undefined;
}

function parseAssistant(value: Fields, timestamp: number, door: Door): AssistantMessage {
  return {
    role: 'assistant',
    content: parseContent(value['content'], door),
    stopReason: textOr(value['stopReason'], 'stop'),
    timestamp,
  };
}

/** Truthiness as Pi judges it, so that the text made from this is Pi's own. */
function parseBash(value: Fields, timestamp: number): BashMessage | undefined {
  if (value['excludeFromContext']) return undefined;
  const { exitCode, fullOutputPath } = value;
  return {
    role: 'bashExecution',
    command: textOr(value['command'], ''),
    output: textOr(value['output'], ''),
    ...(typeof exitCode === 'number' && Number.isSafeInteger(exitCode) && { exitCode: exitCode + 0 }),
    cancelled: Boolean(value['cancelled']),
    truncated: Boolean(value['truncated']),
    ...(typeof fullOutputPath === 'string' && { fullOutputPath: wellFormed(fullOutputPath) }),
    timestamp,
  };
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? wellFormed(value) : otherwise;
}
