import type { ExtensionContext } from './piTypes';

/** The name under which Pi keeps our line of its footer. */
const KEY = 'strata';

/** Our line in Pi's footer, and notices. Whatever the state of Pi, drawing must not fail anything else. */
export class Footer {
  #text = '';

  constructor(
    private readonly ui: ExtensionContext['ui'],
    private readonly mode: ExtensionContext['mode'],
  ) {}

  show(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    try {
      this.ui.setStatus(KEY, text);
    } catch {
      // The session ended meanwhile: nobody looks.
    }
  }

  /** A sentence for people. Print and JSON mode show no notices, so there it goes to stderr. */
  notify(text: string, kind: 'info' | 'warning' | 'error'): void {
    try {
      if (this.mode === 'print' || this.mode === 'json') process.stderr.write(`${text}\n`);
      else this.ui.notify(text, kind);
    } catch {
      // As above.
    }
  }
}
