import assert from 'node:assert/strict';
import fc from 'fast-check';
import { archiveBudgets, MIN_VIEW_BYTES, turnBudget } from '../../../extension/archive/budget';
import { decideReceipt } from '../../../extension/archive/receiptDecision';
import type { Chain } from '../../../extension/archive/ids';

describe('budgets', () => {
  it('give a 200,000-token model the full view of 128,000 bytes', () => {
    const model = { window: 200_000, maxTokens: 64_000 };
    const budgets = archiveBudgets(model, model, 3);
    assert.ok(budgets.ok);
    assert.deepEqual(budgets, {
      ok: true,
      maxOutputTokens: 8192,
      maxInputBytes: 32_000,
      viewBytes: 128_000,
      compactorBytes: 32_000,
    });
    assert.equal(turnBudget(budgets.viewBytes, model.window, 3), 128_000);
  });

  it('give a 32,768-token model a view of a third of its window', () => {
    const model = { window: 32_768, maxTokens: 4096 };
    const budgets = archiveBudgets(model, model, 3);
    assert.ok(budgets.ok);
    assert.equal(budgets.viewBytes, 46_512);
    assert.equal(turnBudget(budgets.viewBytes, model.window, 3), 32_766);
  });

  it('refuse models that are too small, in a sentence that names the window', () => {
    const budgets = archiveBudgets(
      { window: 8_000, maxTokens: 2_000 },
      { window: 200_000, maxTokens: 8_192 },
      3,
    );
    assert.ok(!budgets.ok);
    assert.match(budgets.reason, /8000 tokens/);
  });

  it('leave a compactor room for the view, the target, the instructions and the reply', () => {
    const limits = fc.record({
      window: fc.integer({ min: 1, max: 2_000_000 }),
      maxTokens: fc.integer({ min: 1, max: 200_000 }),
    });
    fc.assert(
      fc.property(limits, limits, fc.constantFrom(1, 3), (main, compactor, perToken) => {
        const budgets = archiveBudgets(main, compactor, perToken);
        if (!budgets.ok) return;
        const { viewBytes, maxInputBytes, maxOutputTokens } = budgets;
        const used = viewBytes + maxInputBytes + 24_000 + maxOutputTokens * perToken;
        assert.ok(used <= Math.min(main.window, compactor.window) * perToken);
        assert.ok(viewBytes >= MIN_VIEW_BYTES);
      }),
    );
  });
});

describe('a receipt', () => {
  it('is used only for the very history it was made for', () => {
    const chain = fc.constantFrom('P0' as Chain, 'P1' as Chain);
    const maybe = fc.option(chain, { nil: undefined });
    fc.assert(
      fc.property(chain, maybe, maybe, (current, stored, winner) => {
        const found = stored ?? winner;
        const decision = decideReceipt(current, stored, winner);
        assert.equal(decision === 'prepare', found === undefined);
        assert.equal(decision === 'reject', found !== undefined && found !== current);
      }),
    );
  });
});
