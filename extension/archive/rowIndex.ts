/**
 * Finds rows of a table by what they hold: open addressing over row numbers, a few bytes a row. The rows themselves
 * stay in their columns, so the caller compares.
 */
export class RowIndex {
  /** Row + 1; 0 is free. At most two thirds are taken. */
  #slots: Uint32Array;
  #size = 0;

  /** `hashOf` gives a stored row's hash, any number of 32 bits. The first `rows` rows are in it from the start. */
  constructor(
    private readonly hashOf: (row: number) => number,
    rows = 0,
  ) {
    this.#slots = new Uint32Array(capacityFor(rows));
    this.#size = rows;
    for (let row = 0; row < rows; row++) this.#put(row);
  }

  /** The first row with that hash that `isIt` accepts; -1 when there is none. */
  find(hash: number, isIt: (row: number) => boolean): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let at = spread(hash) & mask; ; at = (at + 1) & mask) {
      const row = (slots[at] as number) - 1;
      if (row < 0 || isIt(row)) return row;
    }
  }

  /** The caller has made sure that no row of the same identity is there. */
  add(row: number): void {
    if ((this.#size + 1) * 3 > this.#slots.length * 2) this.#grow();
    this.#put(row);
    this.#size++;
  }

  #put(row: number): void {
    const mask = this.#slots.length - 1;
    let at = spread(this.hashOf(row)) & mask;
    while (this.#slots[at] !== 0) at = (at + 1) & mask;
    this.#slots[at] = row + 1;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(old.length * 2);
    for (const slot of old) if (slot !== 0) this.#put(slot - 1);
  }
}

function capacityFor(rows: number): number {
  let capacity = 64;
  while (rows * 3 > capacity * 2) capacity *= 2;
  return capacity;
}

/** Neighbouring numbers, which tables are full of, must not land in neighbouring slots. */
function spread(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return mixed ^ (mixed >>> 16);
}
