import type { TokenUsage } from './ops';

export const NO_USAGE: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 };

/** The sum. What is no amount counts as nothing: usage comes from outside, and a journal must take it. */
export function addUsage(a: TokenUsage, b: TokenUsage): TokenUsage {
  const sum = (before: number, more: number) => before + (Number.isFinite(more) && more > 0 ? more : 0);
  return {
    input: sum(a.input, b.input),
    output: sum(a.output, b.output),
    cacheRead: sum(a.cacheRead, b.cacheRead),
    cacheWrite: sum(a.cacheWrite, b.cacheWrite),
    cost: sum(a.cost, b.cost),
  };
}
