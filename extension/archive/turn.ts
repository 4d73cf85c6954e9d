import type { TurnId } from './ids';
import type { ReceiptOp, SentOp } from './ops';

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

/** The turns of a journal, in the order their views were frozen. */
export class Turns {
  readonly all: Turn[] = [];
  readonly #numbers = new Map<string, number>();

  /** By its number from 1, or by its run marker's id. */
  get(which: number | string): Turn | undefined {
    const number = typeof which === 'number' ? which : this.#numbers.get(which);
    return number === undefined ? undefined : this.all[number - 1];
  }
  /** The next one; its id must be new. */
  add(turn: Omit<Turn, 'number'>): void {
    const number = this.all.push({ number: this.all.length + 1, ...turn });
    this.#numbers.set(turn.id, number);
  }
  /** What became of its requests. False when no view was frozen for that turn. */
  sent({ turn: id, requests, status }: SentOp): boolean {
    const turn = this.get(id);
    if (turn) this.all[turn.number - 1] = { ...turn, sent: { requests, status } };
    return turn !== undefined;
  }
}
