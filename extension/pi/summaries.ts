import type { SummaryReply, SummaryRequest } from '../archive/ports';
import { sha256Hex } from '../archive/canonical';
import { markBlocks } from './cacheMark';
import type { PiModel, PiRegistry } from './piTypes';
import { reasonOf } from './ownership';
import { PrefixGate } from './prefixGate';

/** No summary takes longer, whatever the owner allows. */
const LONGEST_MS = 120_000;

const PREFIXES = new PrefixGate();

type Context = Parameters<PiRegistry['streamSimple']>[1];
type ModelMessage = Context['messages'][number];

/** The session's model and credentials, taken while Pi's context is valid: after the session ends it throws. */
export interface SummaryModel {
  readonly registry: PiRegistry;
  readonly model: PiModel;
}

/**
 * One summary by the session's own model: no tools, no history beyond the request, thinking at medium where the model
 * thinks, no retries of its own (the owner counts them). Such a call fires none of our hooks. Never rejects.
 */
export async function summarize(
  source: SummaryModel | undefined,
  request: SummaryRequest,
  signal: AbortSignal,
): Promise<SummaryReply> {
  if (!source) return { ok: false, reason: 'Pi has no model selected.' };
  const { registry, model } = source;
  const ms = Math.min(request.timeoutMs, LONGEST_MS);
  const taken = await PREFIXES.enter(prefixOf(request, model), signal);
  const limit = AbortSignal.timeout(ms);
  try {
    const stream = registry.streamSimple(model, contextOf(request, model), {
      maxTokens: Math.min(request.maxOutputTokens, model.maxTokens),
      signal: AbortSignal.any([signal, limit]),
      maxRetries: 0,
      cacheRetention: 'short',
      onPayload: payload => {
        const marking = markBlocks(payload, model.api, request.blocks);
        return marking.state === 'marked' ? marking.payload : undefined;
      },
      ...(model.reasoning && { reasoning: 'medium' }),
    });
    // The first event says that a request was made, the second that somebody answers.
    for await (const event of stream) if (event.type !== 'start') taken();
    const reply = await stream.result();
    if (reply.stopReason === 'error' || reply.stopReason === 'aborted') {
      if (limit.aborted) return { ok: false, reason: `${model.name} took longer than ${ms / 1000} s.` };
      return { ok: false, reason: reply.errorMessage ?? `${model.name} gave no answer.` };
    }
    const text = reply.content.map(block => (block.type === 'text' ? block.text : '')).join('');
    if (text.trim() === '') return { ok: false, reason: `${model.name} answered without text.` };
    const { input, output, cacheRead, cacheWrite, cost } = reply.usage;
    return {
      ok: true,
      text,
      model: `${model.provider}/${model.id}`,
      usage: { input, output, cacheRead, cacheWrite, cost: cost.total },
    };
  } catch (error) {
    return { ok: false, reason: reasonOf(error) };
  } finally {
    taken();
  }
}

/** Jobs of one partition begin alike, and the provider can read that from its cache once the first has written it. */
function prefixOf({ system, blocks }: SummaryRequest, model: PiModel): string {
  return sha256Hex(JSON.stringify([model.provider, model.baseUrl, model.id, system, blocks.slice(0, -1)]));
}

function contextOf(request: SummaryRequest, model: PiModel): Context {
  const timestamp = Date.now();
  const user = (texts: readonly string[]): ModelMessage => ({
    role: 'user',
    content: texts.map(text => ({ type: 'text', text })),
    timestamp,
  });
  const messages: ModelMessage[] = [user(request.blocks)];
  for (const { reply, feedback } of request.retries) {
    messages.push(
      {
        role: 'assistant',
        content: [{ type: 'text', text: reply }],
        api: model.api,
        provider: model.provider,
        model: model.id,
        usage: NO_USAGE,
        stopReason: 'stop',
        timestamp,
      },
      user([feedback]),
    );
  }
  return { systemPrompt: request.system, messages };
}

const NO_USAGE = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
