import type { ModelLimits } from './requests';

/** How many bytes a token is taken for where only tokens are known (design.md section 5). */
export const BYTES_PER_TOKEN = 3;
/** Below this no useful view fits (spec/archive.md 4.4). */
export const MIN_VIEW_BYTES = 4096;

const MAX_VIEW_BYTES = 128_000;
const MAX_OUTPUT_TOKENS = 8192;
const MIN_OUTPUT_TOKENS = 512;
const MAX_INPUT_BYTES = 32_000;
const MIN_INPUT_BYTES = 512;
/** Left for instructions, the ruler and the wording around a target. */
const OVERHEAD_BYTES = 24_000;

/** What an archive may use, chosen from the models when it is made. */
export interface ArchiveBudgets {
  readonly ok: true;
  /** Longest summary reply, in tokens. */
  readonly maxOutputTokens: number;
  /** Largest target a compactor is shown. */
  readonly maxInputBytes: number;
  /** High water of the main view. */
  readonly viewBytes: number;
  /** High water of the compactor's view. */
  readonly compactorBytes: number;
}
export interface TooSmall {
  readonly ok: false;
  /** A sentence for people. */
  readonly reason: string;
}

type Limits = Pick<ModelLimits, 'window' | 'maxTokens'>;

/**
 * The budgets of spec/archive.md 4.4 for the smaller of two windows. Windows and replies are in tokens,
 * `bytesPerToken` turns them into bytes (the product: 3; the reference: 1).
 */
export function archiveBudgets(
  main: Limits,
  compactor: Limits,
  bytesPerToken: number,
): ArchiveBudgets | TooSmall {
  const window = Math.min(main.window, compactor.window);
  const maxOutputTokens = Math.min(
    MAX_OUTPUT_TOKENS,
    main.maxTokens,
    compactor.maxTokens,
    Math.floor(window / 8),
  );
  const available = (window - maxOutputTokens) * bytesPerToken - OVERHEAD_BYTES;
  const maxInputBytes = Math.min(MAX_INPUT_BYTES, Math.floor(available / 4));
  const viewBytes = Math.min(MAX_VIEW_BYTES, available - maxInputBytes);
  if (maxOutputTokens < MIN_OUTPUT_TOKENS || maxInputBytes < MIN_INPUT_BYTES || viewBytes < MIN_VIEW_BYTES) {
    return {
      ok: false,
      reason:
        `A window of ${window} tokens with replies of up to ${maxOutputTokens} is too small for memory. ` +
        'Choose a model with more room.',
    };
  }
  return {
    ok: true,
    maxOutputTokens,
    maxInputBytes,
    viewBytes,
    compactorBytes: Math.floor(viewBytes / 4),
  };
}

/**
 * High water of the view in one turn: a third of the model's window, never more than the archive's budget
 * (design.md section 5). It depends on the model alone, never on usage, so each request of a turn gets the same.
 * Below `MIN_VIEW_BYTES` the turn must be refused.
 */
export function turnBudget(viewBytes: number, window: number, bytesPerToken: number): number {
  return Math.min(viewBytes, Math.floor(window / 3) * bytesPerToken);
}

/** What is kept free for a reply, in tokens, however long replies the model can write. */
const MAX_REPLY_TOKENS = 32_768;
/** What is kept free for all that is not counted: the tools' declarations, the provider's own wording. */
const MARGIN_TOKENS = 4096;

/** What is known of a request before it leaves. */
export interface RequestSize {
  /** The model's window in tokens. */
  readonly window: number;
  /** The model's longest reply in tokens. */
  readonly maxTokens: number;
  /** Tokens of the last reported usage of this turn; 0 before the first reply. */
  readonly reportedTokens: number;
  /** UTF-8 bytes that the request holds beyond what was reported, images left out. */
  readonly addedBytes: number;
  /** The host's estimate for the images among what was added. */
  readonly imageTokens: number;
}

/** Tokens that are kept free for what comes after a request. */
export function reservedTokens({ maxTokens }: Pick<RequestSize, 'maxTokens'>): number {
  return Math.min(maxTokens, MAX_REPLY_TOKENS) + MARGIN_TOKENS;
}

/**
 * Tokens that the request and its reply may need together (design.md section 5, spec/archive.md 4.9). A request that
 * needs more than the window is stopped before it leaves.
 */
export function requestTokens(request: RequestSize, bytesPerToken: number): number {
  const added = Math.ceil(request.addedBytes / bytesPerToken) + request.imageTokens;
  return request.reportedTokens + added + reservedTokens(request);
}
