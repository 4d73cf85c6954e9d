import type { ExtensionContext } from './piTypes';

/** The name under which Pi keeps our line of its footer. */
const KEY = 'strata';
/** Milliseconds a wait may take before it is worth a word: an acknowledgement takes a few. */
const NOTICEABLE_MS = 500;

/** Our line in Pi's footer, and notices. Whatever the state of Pi, drawing must not fail anything else. */
export class Footer {
  /** What stands there while nothing is awaited. */
  #state = '';
  readonly #waits = new Set<{ readonly what: string }>();
  #drawn = '';
  readonly #told = new Set<string>();

  constructor(
    private readonly ui: ExtensionContext['ui'],
    private readonly mode: ExtensionContext['mode'],
  ) {}

  show(text: string): void {
    this.#state = text;
    this.#draw();
  }

  /** Says what is awaited as long as `work` goes on, once that takes noticeably long. Settles as `work` does. */
  async during<T>(what: string, work: Promise<T>): Promise<T> {
    const wait = { what };
    const timer = setTimeout(() => {
      this.#waits.add(wait);
      this.#draw();
    }, NOTICEABLE_MS);
    try {
      return await work;
    } finally {
      clearTimeout(timer);
      if (this.#waits.delete(wait)) this.#draw();
    }
  }

  /** A sentence for people. Print and JSON mode show no notices, so there it goes to stderr. */
  notify(text: string, kind: 'info' | 'warning' | 'error'): void {
    try {
      if (this.mode === 'print' || this.mode === 'json') process.stderr.write(`${text}\n`);
      else this.ui.notify(text, kind);
    } catch {
      // As below.
    }
  }

  /** As `notify`, but each text only the first time. */
  notifyOnce(text: string, kind: 'info' | 'warning' | 'error'): void {
    if (this.#told.has(text)) return;
    this.#told.add(text);
    this.notify(text, kind);
  }

  #draw(): void {
    const text = [...this.#waits].at(-1)?.what ?? this.#state;
    if (text === this.#drawn) return;
    this.#drawn = text;
    try {
      this.ui.setStatus(KEY, text);
    } catch {
      // The session ended meanwhile: nobody looks.
    }
  }
}
