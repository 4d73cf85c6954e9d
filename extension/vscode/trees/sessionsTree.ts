import * as vscode from 'vscode';
import { Coalescer } from '../coalescer';
import { setContextKey } from '../contextKey';
import type { SessionCatalogue } from '../sessionCatalogue';
import { sessionRow, type SessionFacts } from '../sessionRows';
import { FailureNode } from './failureNode';

export type SessionNode = SessionFacts | FailureNode;

/** Relative times grow old; this often they are written anew while the view is shown. */
const CLOCK_MS = 60_000;
/** A running session writes its files several times a second; reading the ends of all files each time is too much. */
const READ_EVERY_MS = 1000;

/** The Sessions view: Pi's sessions of this workspace, live or not. */
export class SessionsTree implements vscode.TreeDataProvider<SessionNode>, vscode.Disposable {
  readonly view: vscode.TreeView<SessionNode>;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #reading: Coalescer;
  readonly #drawing: Coalescer;
  readonly #clock: NodeJS.Timeout;
  readonly #subscriptions: vscode.Disposable[] = [];

  /** `afterReading` hears of each new reading: titles and states may have changed. */
  constructor(
    private readonly catalogue: SessionCatalogue,
    private readonly afterReading: () => void,
    private readonly now: () => number = Date.now,
  ) {
    this.#reading = new Coalescer(() => this.#read(), READ_EVERY_MS);
    this.#drawing = new Coalescer(() => Promise.resolve(this.#changed.fire()));
    this.view = vscode.window.createTreeView('strata.sessions', { treeDataProvider: this });
    const pause = () => (this.#reading.paused = this.#drawing.paused = !this.view.visible);
    pause();
    this.#subscriptions.push(this.view, this.#changed, this.view.onDidChangeVisibility(pause));
    this.refresh();
    this.#clock = setInterval(() => this.redraw(), CLOCK_MS);
  }

  /** Something may have changed on disk. */
  refresh(): void {
    this.#reading.request();
  }

  /** Something has changed in the sessions that run here. */
  redraw(): void {
    this.#drawing.request();
  }

  getChildren(node?: SessionNode): SessionNode[] {
    if (node) return [];
    const { failure, sessions } = this.catalogue;
    return failure === undefined ? [...sessions] : [new FailureNode(failure), ...sessions];
  }

  getTreeItem(node: SessionNode): vscode.TreeItem {
    if (node instanceof FailureNode) return node.item();
    const row = sessionRow(node, this.now());
    const item = new vscode.TreeItem(row.label, vscode.TreeItemCollapsibleState.None);
    item.id = node.key;
    item.description = row.description;
    item.tooltip = row.tooltip;
    item.iconPath = new vscode.ThemeIcon(
      row.icon,
      row.warning ? new vscode.ThemeColor('list.warningForeground') : undefined,
    );
    item.contextValue = row.context;
    item.accessibilityInformation = { label: row.spoken };
    item.command = { command: 'strata.showSession', title: 'Show Memory', arguments: [node] };
    return item;
  }

  dispose(): void {
    clearInterval(this.#clock);
    this.#reading.dispose();
    this.#drawing.dispose();
    for (const s of this.#subscriptions) s.dispose();
  }

  async #read(): Promise<void> {
    await this.catalogue.read();
    setContextKey('strata.sessionsRead', true);
    this.#changed.fire();
    this.afterReading();
  }
}
