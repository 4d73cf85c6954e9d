import type {
  ContextEvent,
  ExtensionAPI,
  ExtensionContext,
  SessionEntry as PiSessionEntry,
} from '@earendil-works/pi-coding-agent';

/** A message as Pi holds it: thinking, usage and all. */
export type PiMessage = ContextEvent['messages'][number];
/** An entry of a live session as Pi holds it. */
export type PiEntry = PiSessionEntry;
export type PiRegistry = ExtensionContext['modelRegistry'];
/** Pi types a context's model with `any`; this is the same without. */
export type PiModel = Parameters<PiRegistry['streamSimple']>[0];
export type { ExtensionAPI, ExtensionContext };

/** What is read from Pi's session manager. */
export interface PiSession {
  getLeafId(): string | null;
  getEntry(id: string): PiEntry | undefined;
}

/**
 * Functions of Pi's own packages. Modules inside Pi can be imported only by the loader, which is ESM, so it hands
 * them over to this bundle.
 */
export interface PiFunctions {
  /** Folds all system messages into one: the prompt's sections and the tools in force after them. */
  readonly getCurrentSystemMessage: (messages: readonly PiMessage[]) => PiMessage | undefined;
  readonly sessionEntryToContextMessages: (entry: PiEntry) => PiMessage[];
  readonly convertToLlm: (messages: PiMessage[]) => unknown[];
  readonly estimateTokens: (message: PiMessage) => number;
  readonly version: string;
}
