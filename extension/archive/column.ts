type Numbers = Uint8Array | Uint32Array | Float64Array;

const FIRST = 64;
let made = 0;
/** Columns of one table grow together, so each starts with another length: else all would be copied at the same row. */
function firstLength(): number {
  return FIRST + 3 * (made++ % 11);
}

/**
 * A growing list of numbers in one typed array: what a state holds of a hundred thousand records must be a few flat
 * arrays, because as objects they would cost ten times the memory and the collector's time at every look.
 */
export class Column<A extends Numbers> {
  readonly #first = firstLength();
  /** Longer than `length`: what is behind it means nothing. */
  values: A;
  #length: number;

  /** `used` becomes the column's own. */
  constructor(
    private readonly make: (length: number) => A,
    used: A = make(0),
  ) {
    this.values = used;
    this.#length = used.length;
  }

  get length(): number {
    return this.#length;
  }
  at(i: number): number {
    return this.values[i] as number;
  }
  push(value: number): void {
    if (this.#length === this.values.length) this.#grow(this.#length + 1);
    this.values[this.#length++] = value;
  }
  /** What is used of it: a window on memory that appending never changes. */
  used(): A {
    return this.values.subarray(0, this.#length) as A;
  }
  /** Keeps the first `length` numbers only. */
  cut(length: number): void {
    this.#length = Math.min(this.#length, length);
  }

  #grow(least: number): void {
    const next = this.make(Math.max(this.#first, least, Math.ceil(this.values.length * 1.5)));
    next.set(this.values);
    this.values = next;
  }
}

export function bytesColumn(used?: Uint8Array): Column<Uint8Array> {
  return new Column(length => new Uint8Array(length), used);
}
/** Whole numbers below 2^32. */
export function wordsColumn(used?: Uint32Array): Column<Uint32Array> {
  return new Column(length => new Uint32Array(length), used);
}
export function numbersColumn(used?: Float64Array): Column<Float64Array> {
  return new Column(length => new Float64Array(length), used);
}

/** A growing list of hashes of one width, given and taken as hex. */
export class HexColumn {
  readonly #first = firstLength();
  #bytes: Buffer;
  #length: number;

  /** `width` in bytes, at least 4. `used` becomes the column's own. */
  constructor(
    private readonly width: number,
    used: Uint8Array = new Uint8Array(0),
  ) {
    this.#bytes = Buffer.from(used.buffer, used.byteOffset, used.length);
    this.#length = Math.floor(used.length / width);
  }

  get length(): number {
    return this.#length;
  }
  push(hex: string): void {
    const at = this.#length * this.width;
    if (at + this.width > this.#bytes.length) {
      const next = Buffer.allocUnsafeSlow(this.width * Math.max(this.#first, Math.ceil(this.#length * 1.5)));
      this.#bytes.copy(next);
      this.#bytes = next;
    }
    this.#bytes.write(hex, at, this.width, 'hex');
    this.#length++;
  }
  at(i: number): string {
    return this.#bytes.toString('hex', i * this.width, (i + 1) * this.width);
  }
  /** The hash's first four bytes: as good a number to look it up by as any. */
  word(i: number): number {
    return this.#bytes.readInt32LE(i * this.width);
  }
  /** Whether the hash at `i` is these bytes. */
  is(i: number, hash: Buffer): boolean {
    const from = i * this.width;
    // By hand: a call of `compare` takes ten times as long, and each commit looks up several.
    for (let k = 0; k < this.width; k++) if (this.#bytes[from + k] !== hash[k]) return false;
    return true;
  }
  used(): Uint8Array {
    return this.#bytes.subarray(0, this.#length * this.width);
  }
}

/** A growing list of short texts in one piece of memory. */
export class TextColumn {
  readonly #ends: Column<Uint32Array>;
  #bytes: Buffer;

  /** `ends` and `bytes` become the column's own. */
  constructor(ends?: Uint32Array, bytes: Uint8Array = new Uint8Array(0)) {
    this.#ends = wordsColumn(ends);
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get length(): number {
    return this.#ends.length;
  }
  push(text: string): void {
    const start = this.#end;
    // The most that UTF-8 can take, so that nothing is ever cut.
    const room = start + text.length * 3;
    if (room > this.#bytes.length) {
      const next = Buffer.allocUnsafeSlow(Math.max(1024, room, Math.ceil(this.#bytes.length * 1.5)));
      this.#bytes.copy(next);
      this.#bytes = next;
    }
    this.#ends.push(start + this.#bytes.write(text, start, 'utf8'));
  }
  at(i: number): string {
    return this.#bytes.toString('utf8', i === 0 ? 0 : this.#ends.at(i - 1), this.#ends.at(i));
  }
  usedEnds(): Uint32Array {
    return this.#ends.used();
  }
  usedBytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#end);
  }

  get #end(): number {
    return this.#ends.length === 0 ? 0 : this.#ends.at(this.#ends.length - 1);
  }
}

/** What a hash that is looked for is written into: made once, since each commit looks up several. */
const LOOKED_FOR = Buffer.alloc(32);

/** The bytes of a hash, to be compared before anything else is looked for; undefined for a text of another form. */
export function hashBytes(hex: string, width: number): Buffer | undefined {
  return hex.length === 2 * width && LOOKED_FOR.write(hex, 0, width, 'hex') === width
    ? LOOKED_FOR
    : undefined;
}

/** Four bytes as one number. */
export function wordOf(bytes: Uint8Array, at = 0): number {
  const byte = (i: number): number => bytes[at + i] ?? 0;
  return byte(0) | (byte(1) << 8) | (byte(2) << 16) | (byte(3) << 24);
}
