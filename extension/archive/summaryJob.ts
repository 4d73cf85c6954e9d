import { COMPACTOR_INSTRUCTION, jobBlocks, PROMPT_VERSION, sizeFeedback, type Target } from './instruction';
import type { ModelLine } from './line';
import type { Clock, Compactor, SummaryReply, SummaryRequest } from './ports';
import { lineOfReply, SizeAttempts } from './sizeAttempts';
import { codePointCut } from './text';
import { addUsage, NO_USAGE } from './tokenUsage';

/** Calls of one job that may end without a reply (spec/archive.md 2.5). */
const FAILURE_TRIES = 3;
/** Milliseconds between such a call and the next. */
const RETRY_MS = 10_000;
/** Milliseconds that one call may take. */
const CALL_MS = 120_000;
const ENDED = new Error('this call has ended');
/** How much of a reply goes back with what was wrong with it. */
const REPLY_BYTES_KEPT = 4096;

/** Resolves after `ms` milliseconds, or at once when the signal aborts. Never rejects. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

export interface JobTools {
  readonly compactor: Compactor;
  readonly clock: Clock;
  readonly sleep: Sleep;
  readonly maxOutputTokens: number;
  /** Esc: a running call ends and its reply is not wanted. */
  readonly cancel: AbortSignal;
  /** The build has failed elsewhere: no further call is started. */
  readonly stop: AbortSignal;
}
export interface JobInput {
  readonly context: readonly string[];
  readonly target: Target;
  /** The target is a record of which only head and tail are shown. */
  readonly clipped: boolean;
}
export type JobOutcome =
  | { readonly state: 'done'; readonly line: ModelLine }
  | { readonly state: 'failed'; readonly reason: string }
  | { readonly state: 'stopped' };

/**
 * Turns one target into one line: up to five replies for the size, in one conversation, and up to three calls that
 * bring none, counted apart (spec/archive.md 2.5). The context is fixed for the whole job. Never rejects.
 */
export async function runSummaryJob(input: JobInput, tools: JobTools): Promise<JobOutcome> {
  const blocks = jobBlocks(input.context, input.target);
  const sizes = new SizeAttempts();
  const retries: { reply: string; feedback: string }[] = [];
  let usage = NO_USAGE;
  let failures = 0;
  for (;;) {
    if (tools.cancel.aborted || tools.stop.aborted) return { state: 'stopped' };
    const reply = await call({ ...requestBase(tools), blocks, retries: [...retries] }, tools);
    if (tools.cancel.aborted) return { state: 'stopped' };
    if (!reply.ok) {
      if (++failures >= FAILURE_TRIES) return { state: 'failed', reason: reply.reason };
      await tools.sleep(RETRY_MS, AbortSignal.any([tools.cancel, tools.stop]));
      continue;
    }
    usage = addUsage(usage, reply.usage);
    const line = lineOfReply(reply.text);
    const verdict = sizes.offer(line);
    if (verdict === 'failed')
      return { state: 'failed', reason: 'the model gave five replies without a usable line' };
    if (verdict === 'publish') {
      const { attempts, oversized } = sizes;
      const at = tools.clock.now();
      const by = { model: reply.model, promptVersion: PROMPT_VERSION, attempts, usage, at };
      return { state: 'done', line: { text: sizes.line, oversized, clipped: input.clipped, by } };
    }
    // Providers refuse an empty message in a conversation.
    const said = codePointCut(line || reply.text.slice(0, REPLY_BYTES_KEPT), REPLY_BYTES_KEPT);
    retries.push({ reply: said.trim() === '' ? '(nothing)' : said, feedback: sizeFeedback(line) });
  }
}

function requestBase(tools: JobTools): Pick<SummaryRequest, 'system' | 'maxOutputTokens' | 'timeoutMs'> {
  return { system: COMPACTOR_INSTRUCTION, maxOutputTokens: tools.maxOutputTokens, timeoutMs: CALL_MS };
}

/** A compactor that throws instead of saying why has failed like any other; one that never answers, too. */
async function call(request: SummaryRequest, tools: JobTools): Promise<SummaryReply> {
  const ended = new AbortController();
  const { signal } = ended;
  const onCancel = (): void => ended.abort(ENDED);
  tools.cancel.addEventListener('abort', onCancel);
  try {
    return await Promise.race([
      tools.compactor.summarize(request, signal),
      tools
        .sleep(CALL_MS + RETRY_MS, signal)
        .then((): SummaryReply => ({ ok: false, reason: 'no answer in time' })),
    ]);
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  } finally {
    tools.cancel.removeEventListener('abort', onCancel);
    // Ends the timer, and the call when the timer was first.
    ended.abort(ENDED);
  }
}
