import type { PiMessage } from './piTypes';

/** Why a turn may not go on, in a sentence for people that says what happened and what to do. */
export interface Failure {
  readonly reason: string;
  /** Something on the screen has said so. */
  shown: boolean;
}

/**
 * What a request of a stopped turn consists of: `ctx.abort()` keeps it from leaving, and should anything send it all
 * the same, it holds none of the conversation.
 */
export function stoppedMessages(reason: string): PiMessage[] {
  return [{ role: 'system', content: `Strata stopped this request. ${reason}`, timestamp: Date.now() }];
}

/**
 * The reply that Pi made up for the request we stopped, with the reason in it. It becomes an error because Pi's
 * terminal shows "Operation aborted" in place of the text of an aborted one; after `ctx.abort()` Pi does not retry.
 * Undefined for a message that isn't such a reply (`error` instead of `aborted`: Pi before 1.5.1).
 */
export function stoppedReply(message: PiMessage, failure: Failure): PiMessage | undefined {
  if (message.role !== 'assistant') return undefined;
  if (message.stopReason !== 'aborted' && message.stopReason !== 'error') return undefined;
  failure.shown = true;
  return { ...message, stopReason: 'error', errorMessage: failure.reason };
}

/** No tool runs in a stopped turn. */
export function blockedTool(failure: Failure): { block: true; reason: string; terminate: true } {
  return { block: true, reason: failure.reason, terminate: true };
}

/** Nobody owns the archive, or who does cannot serve it; `why` says what a person can do about it. */
export function memoryUnavailable(why: string): string {
  return (
    `Memory is not available, so nothing was sent to the model. ${sentence(why)} ` +
    'Then send the prompt again, or type /strata off to go on without memory in this session.'
  );
}

export function memoryFailed(why: string): string {
  return (
    `Memory failed, so this request was not sent. ${sentence(why)} ` +
    "Everything said so far is in Pi's session file. Send a prompt to try again, or type /strata off to go on without memory."
  );
}

function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}
