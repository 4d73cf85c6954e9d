/**
 * The part of Pi's messages that an archive keeps. Everything that reaches these types from Pi, a session file or
 * the link has gone through `parseMessage`, so fields of an unexpected type never get this far. Thinking is dropped
 * by the parser: it must not reach a journal, a key or a compactor (spec/archive.md 1.2).
 */
export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
}
/** An image as it comes from Pi, and as journals held it before there were blobs. */
export interface InlineImage {
  readonly type: 'image';
  readonly mimeType: string;
  /** Base64, as Pi has it. */
  readonly data: string;
}
/** An image as a journal holds it: its bytes are a blob. */
export interface StoredImage {
  readonly type: 'image';
  readonly mimeType: string;
  /** 64 hex digits over the decoded bytes, which also name the blob. */
  readonly sha256: string;
  /** Length of the decoded bytes. */
  readonly bytes: number;
}
export type ImageBlock = InlineImage | StoredImage;
export interface ToolCallBlock {
  readonly type: 'toolCall';
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}
/** A block of a type we do not know: only its presence counts. */
export interface OtherBlock {
  readonly type: 'other';
  readonly name: string;
}
export type Block = TextBlock | ImageBlock | ToolCallBlock | OtherBlock;

interface Timed {
  /** Milliseconds since 1970. */
  readonly timestamp: number;
}
export interface UserMessage extends Timed {
  readonly role: 'user';
  readonly content: readonly Block[];
}
export interface AssistantMessage extends Timed {
  readonly role: 'assistant';
  readonly content: readonly Block[];
  /** Only `error` and `aborted` count; the rest is kept as provenance. */
  readonly stopReason: string;
}
export interface ToolResultMessage extends Timed {
  readonly role: 'toolResult';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly isError: boolean;
  readonly content: readonly Block[];
}
export interface BashMessage extends Timed {
  readonly role: 'bashExecution';
  readonly command: string;
  readonly output: string;
  readonly exitCode?: number;
  readonly cancelled: boolean;
  readonly truncated: boolean;
  readonly fullOutputPath?: string;
}
/** Another extension's message, or ours. */
export interface CustomMessage extends Timed {
  readonly role: 'custom';
  readonly customType: string;
  readonly content: readonly Block[];
}
export interface BranchSummaryMessage extends Timed {
  readonly role: 'branchSummary';
  readonly summary: string;
}
export type StoredMessage =
  UserMessage | AssistantMessage | ToolResultMessage | BashMessage | CustomMessage | BranchSummaryMessage;
