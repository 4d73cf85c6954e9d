import * as vscode from 'vscode';
import { Coalescer } from './coalescer';
import { statusOf, type ServedMemory } from './statusModel';

/** The memory item: hidden while there is nothing to say. A click leads to *Memory Status*. */
export class StatusBar implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem('memory', vscode.StatusBarAlignment.Left, 10);
  readonly #refresh: Coalescer;
  #disposed = false;

  /** `served` says what is served right now; it does not reject. */
  constructor(private readonly served: () => Promise<readonly ServedMemory[]>) {
    this.#item.name = 'Strata Memory';
    this.#item.command = 'strata.memoryStatus';
    this.#refresh = new Coalescer(() => this.#draw());
  }

  refresh(): void {
    this.#refresh.request();
  }

  dispose(): void {
    this.#disposed = true;
    this.#refresh.dispose();
    this.#item.dispose();
  }

  async #draw(): Promise<void> {
    const status = statusOf(await this.served());
    if (this.#disposed) return;
    if (!status) return this.#item.hide();
    this.#item.text = status.text;
    this.#item.tooltip = status.tooltip;
    this.#item.accessibilityInformation = { label: status.tooltip };
    if (status.warning) this.#item.backgroundColor = new vscode.ThemeColor('statusBarItem.warningBackground');
    else this.#item.backgroundColor = undefined;
    this.#item.show();
  }
}
