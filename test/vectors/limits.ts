import { archiveBudgets, MIN_VIEW_BYTES, requestTokens, turnBudget } from '../../extension/archive/budget';
import type { Chain } from '../../extension/archive/ids';
import { decideReceipt, type ReceiptDecision } from '../../extension/archive/receiptDecision';
import { fieldsOf, type Handler } from './vector';

/** The file takes a byte for a token. */
const BYTES_PER_TOKEN = 1;

interface Limits {
  readonly window: number;
  readonly maxTokens: number;
}

export const budgets: Handler = vector => {
  const { input, expect } = fieldsOf<{
    input: { main: Limits; compactor: Limits }[];
    expect: object[];
  }>(vector);
  const half = (high: number): number => Math.floor(high / 2);
  const actual = input.map(({ main, compactor }) => {
    const chosen = archiveBudgets(main, compactor, BYTES_PER_TOKEN);
    if (!chosen.ok) return { error: 'models too small' };
    const budget = turnBudget(chosen.viewBytes, main.window, BYTES_PER_TOKEN);
    return {
      maxOutputTokens: chosen.maxOutputTokens,
      maxInputBytes: chosen.maxInputBytes,
      viewBytes: chosen.viewBytes,
      compactorHigh: chosen.compactorBytes,
      compactorLow: half(chosen.compactorBytes),
      low: half(chosen.viewBytes),
      turn: { budget, ok: budget >= MIN_VIEW_BYTES, low: half(budget) },
    };
  });
  return { expected: expect, actual };
};

export const request_guard: Handler = vector => {
  const { input, expect } = fieldsOf<{ input: (Limits & { bytes: number })[]; expect: boolean[] }>(vector);
  const actual = input.map(({ bytes, ...limits }) => {
    const size = { ...limits, addedBytes: bytes, reportedTokens: 0, imageTokens: 0 };
    return requestTokens(size, BYTES_PER_TOKEN) <= limits.window;
  });
  return { expected: expect, actual };
};

/** The file's words for our decisions. */
const DECISIONS: { readonly [Decision in ReceiptDecision]: string } = {
  prepare: 'prepare-and-store',
  reuse: 'reuse-W0',
  winner: 'return-winner',
  reject: 'reject:history-changed',
};

export const receipts: Handler = vector => {
  const { input, expect } = fieldsOf<{
    input: { prefix: Chain; stored: Chain | null; concurrentWinner?: Chain }[];
    expect: string[];
  }>(vector);
  const actual = input.map(
    ({ prefix, stored, concurrentWinner }) =>
      DECISIONS[decideReceipt(prefix, stored ?? undefined, concurrentWinner)],
  );
  return { expected: expect, actual };
};
