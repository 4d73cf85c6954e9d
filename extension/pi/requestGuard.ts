import { BYTES_PER_TOKEN, requestTokens, reservedTokens, type RequestSize } from '../archive/budget';
import type { PiFunctions, PiMessage, PiModel } from './piTypes';

/** A request that the model would refuse, or answer by forgetting. Its message is for people and says what to do. */
export class RequestTooLarge extends Error {}

type Assistant = Extract<PiMessage, { role: 'assistant' }>;

/**
 * What a request takes: the last usage that this turn reported, and everything after that reply. `live` is the index of
 * the running turn's first message. Walks back from the end, so it costs what was added, not what there is.
 */
export function sizeOfRequest(
  messages: readonly PiMessage[],
  live: number,
  model: Pick<PiModel, 'contextWindow' | 'maxTokens'>,
  estimateTokens: PiFunctions['estimateTokens'],
): RequestSize {
  let addedBytes = 0;
  let imageTokens = 0;
  let reportedTokens = 0;
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at] as PiMessage;
    if (at >= live && message.role === 'assistant') reportedTokens = reported(message);
    if (reportedTokens > 0) break;
    const { text, images } = parted(message);
    addedBytes += Buffer.byteLength(text);
    if (images) imageTokens += estimateTokens(images);
  }
  return { window: model.contextWindow, maxTokens: model.maxTokens, reportedTokens, addedBytes, imageTokens };
}

/** Throws a `RequestTooLarge` for a request that may need more than the window (design.md section 5). */
export function checkSize(size: RequestSize, name: string): void {
  const needed = requestTokens(size, BYTES_PER_TOKEN);
  if (needed <= size.window) return;
  const reserved = reservedTokens(size);
  const parts = [
    ...(size.reportedTokens > 0 ? [`${spoken(size.reportedTokens)} that ${name} has counted`] : []),
    `${spoken(needed - size.reportedTokens - reserved)} for ${spoken(size.addedBytes)} bytes that are new`,
    `${spoken(reserved)} kept for the reply`,
  ];
  const advice =
    size.reportedTokens > 0
      ? 'Send a new prompt: it starts from the memory of this turn in place of all its text. Or choose a model with more room.'
      : 'Send a shorter prompt, for example one that names a file in place of its text, or choose a model with more room.';
  throw new RequestTooLarge(
    `This request was not sent: it may need ${spoken(needed)} tokens (${parts.join(', ')}), and ${name} has room for ${spoken(size.window)}. ` +
      `Nothing is lost, and no tool runs again. ${advice}`,
  );
}

/** Tokens of the context that ended with this reply; 0 where the provider did not say, as for a failed one. */
function reported({ usage }: Assistant): number {
  const { input, cacheRead, cacheWrite, output } = usage;
  return input + cacheRead + cacheWrite > 0 ? input + cacheRead + cacheWrite + output : 0;
}

/** A message's JSON without its images, and a message of these alone. */
function parted(message: PiMessage): { readonly text: string; readonly images?: PiMessage } {
  if (!('content' in message) || !Array.isArray(message.content)) return { text: JSON.stringify(message) };
  const content = message.content as readonly { readonly type: string }[];
  const images = content.filter(({ type }) => type === 'image');
  if (images.length === 0) return { text: JSON.stringify(message) };
  const rest = content.filter(({ type }) => type !== 'image');
  return {
    text: JSON.stringify({ ...message, content: rest }),
    images: { ...message, content: images } as PiMessage,
  };
}

function spoken(n: number): string {
  return n.toLocaleString('en');
}
