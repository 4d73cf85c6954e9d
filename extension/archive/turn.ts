import type { TurnId } from './ids';
import type { ReceiptOp } from './ops';

/** A turn that has a receipt: its view is frozen. */
export interface Turn {
  /** 1 for the first receipt of the journal. */
  readonly number: number;
  readonly id: TurnId;
  /** When the view was frozen, in milliseconds since 1970. */
  readonly at: number;
  readonly receipt: ReceiptOp;
  /** What is known of its requests; absent: prepared, never sent. */
  readonly sent?: { readonly requests: number; readonly status: number | null };
}
