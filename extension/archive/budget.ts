import type { ModelLimits } from './requests';

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
