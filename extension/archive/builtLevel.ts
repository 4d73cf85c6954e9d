import { wordsColumn } from './column';

/**
 * The built lines of one level of the tree, by their place in it: the sizes of each, and who wrote it. Counts how
 * many are built before any place in logarithmic time (a Fenwick tree), because a branch in the middle of a path asks.
 */
export class BuiltLevel {
  /** Bytes of the text; 0 for a line that is not built, which no text has. */
  readonly #text = wordsColumn();
  readonly #shown = wordsColumn();
  /** Row of the model's line + 1; 0 for a text that follows from the records. */
  readonly #model = wordsColumn();
  /** At i the lines built in the run that ends at i and is as long as the lowest bit of i + 1. */
  readonly #counts = wordsColumn();

  isBuilt(i: number): boolean {
    return i < this.#text.length && this.#text.at(i) !== 0;
  }
  text(i: number): number {
    return this.#text.at(i);
  }
  shown(i: number): number {
    return this.#shown.at(i);
  }
  /** Row of the line that a model wrote; -1 for another. */
  model(i: number): number {
    return this.#model.at(i) - 1;
  }

  /** `textBytes` is at least 1, `model` a row or -1. Must not be built yet. */
  build(i: number, textBytes: number, shownBytes: number, model: number): void {
    while (this.#text.length <= i) this.#makeRoom();
    this.#text.values[i] = textBytes;
    this.#shown.values[i] = shownBytes;
    this.#model.values[i] = model + 1;
    const { length } = this.#counts;
    for (let at = i; at < length; at |= at + 1) this.#counts.values[at] = this.#counts.at(at) + 1;
  }

  /** How many of the first `length` are built. */
  builtBefore(length: number): number {
    let sum = 0;
    for (let at = Math.min(length, this.#counts.length) - 1; at >= 0; at = (at & (at + 1)) - 1)
      sum += this.#counts.at(at);
    return sum;
  }

  /** A copy of the first `length`, or of as many as there are. */
  prefix(length: number): BuiltLevel {
    const other = new BuiltLevel();
    for (let i = 0; i < Math.min(length, this.#text.length); i++) {
      other.#text.push(this.#text.at(i));
      other.#shown.push(this.#shown.at(i));
      other.#model.push(this.#model.at(i));
      // A run that ends at i covers nothing behind it, so a prefix is whole as it is.
      other.#counts.push(this.#counts.at(i));
    }
    return other;
  }

  #makeRoom(): void {
    const i = this.#text.length;
    // Nothing is built at i yet, but the run that ends here counts what was built before it.
    const run = this.builtBefore(i) - this.builtBefore(i & (i + 1));
    this.#text.push(0);
    this.#shown.push(0);
    this.#model.push(0);
    this.#counts.push(run);
  }
}
