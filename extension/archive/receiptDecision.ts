import type { Chain } from './ids';

/**
 * What to do with a turn's receipt:
 * `prepare` a view and store its receipt; `reuse` the stored one; return the `winner`'s, stored meanwhile by
 * another preparation of the same turn; `reject`, because history before the turn is no longer what it was.
 */
export type ReceiptDecision = 'prepare' | 'reuse' | 'winner' | 'reject';

/**
 * The table of spec/archive.md 5.4. `current` names the history now, `stored` that of the turn's receipt, if it has
 * one; `winner` is asked again inside the transaction that would store a receipt, and is the one found there.
 * A rejected turn can only be submitted again: a new turn has a new receipt.
 */
export function decideReceipt(current: Chain, stored?: Chain, winner?: Chain): ReceiptDecision {
  if (stored !== undefined) return stored === current ? 'reuse' : 'reject';
  if (winner !== undefined) return winner === current ? 'winner' : 'reject';
  return 'prepare';
}
