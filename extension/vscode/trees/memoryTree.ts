import * as vscode from 'vscode';
import { formatAddress, type Address } from '../../archive/address';
import type { Branch } from '../../archive/branch';
import type { ArchiveId } from '../../archive/ids';
import { partsOfRuns } from '../../archive/partition';
import { recordsOfRuns } from '../../archive/partitionMark';
import type { ArchiveReader, ArchiveReaders } from '../archiveReaders';
import { Coalescer } from '../coalescer';
import { setContextKey } from '../contextKey';
import { formatBytes } from '../figures';
import { addressesBelow, memoryRow, topAddresses, type MemoryRow } from '../memoryRows';
import type { StrataDocument } from '../strataUri';
import { FailureNode } from './failureNode';

/** A line of the view, or one below it. It keeps its branch, so what it opens into stays consistent. */
export interface LineNode {
  readonly kind: 'line';
  readonly archive: ArchiveId;
  readonly branch: Branch;
  readonly row: MemoryRow;
  /** The whole line, or the beginning of what stands for it. */
  readonly text: string;
  readonly parent: LineNode | undefined;
}
export type MemoryNode = LineNode | FailureNode;

/** The second argument of *Open Original* from a row itself: the focus stays in the tree, for the next one. */
export const PREVIEW = 'preview';

/** What the Memory view is about. */
export interface MemorySubject {
  readonly archive: ArchiveId;
  readonly title: string;
  /** Lines are being written for it just now. */
  readonly preparing: boolean;
  /** The session has a file, but nothing was ever read into an archive. */
  readonly unread: boolean;
}

/** The Memory view: the lines of a session's current view, each of which opens down to the originals. */
export class MemoryTree implements vscode.TreeDataProvider<MemoryNode>, vscode.Disposable {
  readonly view: vscode.TreeView<MemoryNode>;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #refresh: Coalescer;
  readonly #subscriptions: vscode.Disposable[] = [];
  /** Commands get whatever a caller passes; only our own rows are taken. */
  readonly #rowsMade = new WeakSet<object>();
  #subject: MemorySubject | undefined;
  #drawn = '';
  #failure: string | undefined;

  constructor(
    private readonly readers: ArchiveReaders,
    private readonly now: () => number = Date.now,
  ) {
    this.#refresh = new Coalescer(() => this.#look());
    this.view = vscode.window.createTreeView('strata.memory', {
      treeDataProvider: this,
      showCollapseAll: true,
    });
    this.#refresh.paused = !this.view.visible;
    this.#subscriptions.push(
      this.view,
      this.#changed,
      this.view.onDidChangeVisibility(e => (this.#refresh.paused = !e.visible)),
    );
    this.#tellState('none', false);
  }

  get subject(): MemorySubject | undefined {
    return this.#subject;
  }

  /** Shows another session, or none. The same session again only updates its title. */
  show(subject: MemorySubject | undefined): void {
    if (this.#subject?.archive !== subject?.archive) this.#drawn = '';
    this.#subject = subject;
    this.refresh();
  }

  /** Something may have changed; drawn soon, and only if it did. */
  refresh(): void {
    this.#refresh.request();
  }

  /** Reads and draws everything anew: what *Try Again* does. */
  again(): void {
    this.readers.clear();
    this.#drawn = '';
    this.refresh();
  }

  async getChildren(node?: MemoryNode): Promise<MemoryNode[]> {
    if (node instanceof FailureNode) return [];
    try {
      return await (node ? this.#below(node) : this.#top());
    } catch (error) {
      return [new FailureNode(sentenceOf(error))];
    }
  }

  /** Whether this is a row that this view made. */
  isLine(value: unknown): value is LineNode {
    return typeof value === 'object' && value !== null && this.#rowsMade.has(value);
  }

  getParent(node: MemoryNode): MemoryNode | undefined {
    return node instanceof FailureNode ? undefined : node.parent;
  }

  getTreeItem(node: MemoryNode): vscode.TreeItem {
    if (node instanceof FailureNode) return node.item();
    const { row } = node;
    const single = row.kind !== undefined;
    const item = new vscode.TreeItem(
      row.label,
      single ? vscode.TreeItemCollapsibleState.None : vscode.TreeItemCollapsibleState.Collapsed,
    );
    item.id = `${node.archive}/${node.branch.sourceOf(row.address.start).chain}/${formatAddress(row.address)}`;
    item.description = row.description;
    item.tooltip = row.tooltip;
    item.iconPath = iconOf(row, this.#subject?.preparing ?? false);
    item.contextValue = single ? 'line original' : 'line';
    item.accessibilityInformation = { label: `${row.label}, ${row.description}` };
    if (single)
      item.command = { command: 'strata.openOriginal', title: 'Open Original', arguments: [node, PREVIEW] };
    return item;
  }

  dispose(): void {
    this.#refresh.dispose();
    for (const s of this.#subscriptions) s.dispose();
  }

  async #top(): Promise<MemoryNode[]> {
    const subject = this.#subject;
    if (!subject || subject.unread) return [];
    if (this.#failure !== undefined) return [new FailureNode(this.#failure)];
    const reader = await this.readers.reader(subject.archive);
    const branch = reader.branch();
    const addresses = topAddresses(viewParts(reader, branch), branch.records);
    return this.#rows(subject.archive, branch, addresses, undefined);
  }

  #below(node: LineNode): Promise<LineNode[]> {
    return this.#rows(node.archive, node.branch, addressesBelow(node.branch, node.row.address), node);
  }

  async #rows(
    archive: ArchiveId,
    branch: Branch,
    addresses: readonly Address[],
    parent: LineNode | undefined,
  ): Promise<LineNode[]> {
    const reader = await this.readers.reader(archive);
    const covered = recordsOfRuns(reader.follower.state.mark(branch.chain).mark.runs);
    const now = this.now();
    const rows: LineNode[] = [];
    for (const a of addresses) {
      const read = await reader.rowText(branch, a);
      rows.push({
        kind: 'line',
        archive,
        branch,
        row: memoryRow(branch, a, read, covered, now),
        text: read.text,
        parent,
      });
    }
    for (const row of rows) this.#rowsMade.add(row);
    return rows;
  }

  /** Reads what is new and decides whether the tree has to be drawn. Never rejects: a failure becomes a row. */
  async #look(): Promise<void> {
    const subject = this.#subject;
    let drawn = 'nothing';
    this.#failure = undefined;
    if (!subject) {
      this.#tellState('none', false);
      this.#describe('', undefined);
    } else if (subject.unread) {
      drawn = `${subject.archive} unread`;
      this.#tellState('unread', false);
      this.#describe(subject.title, undefined);
    } else {
      try {
        const reader = await this.readers.reader(subject.archive);
        const branch = reader.branch();
        drawn = `${subject.archive} ${reader.mark} ${branch.chain} ${subject.preparing}`;
        this.#tellState(branch.records === 0 ? 'empty' : 'lines', reader.follower.state.turns.length > 0);
        this.#describe(headerOf(subject, reader, branch), tailMessage(reader));
      } catch (error) {
        this.#failure = sentenceOf(error);
        drawn = `${subject.archive} failed ${this.#failure}`;
        this.#tellState('failed', false);
        this.#describe(subject.title, undefined);
      }
    }
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    this.#changed.fire();
  }

  #describe(description: string, message: string | undefined): void {
    this.view.description = description;
    if (message === undefined) delete this.view.message;
    else this.view.message = message;
  }

  /** `strata.memoryState` chooses the welcome text, `strata.viewFrozen` offers the last view as text. */
  #tellState(state: 'none' | 'unread' | 'empty' | 'lines' | 'failed', frozen: boolean): void {
    setContextKey('strata.memoryState', state);
    setContextKey('strata.viewFrozen', frozen);
  }
}

/** The document behind a row: the record's original. */
export function originalOf(node: LineNode): StrataDocument {
  return {
    kind: 'original',
    archive: node.archive,
    chain: node.branch.sourceOf(node.row.address.start).chain,
    record: node.row.address.start,
  };
}

function viewParts(reader: ArchiveReader, branch: Branch): readonly Address[] {
  return partsOfRuns(reader.follower.state.mark(branch.chain).mark.runs);
}

/** `fix flaky login test · 61 KB of 125 KB`; the bytes are those of the last frozen view and its budget. */
function headerOf(subject: MemorySubject, reader: ArchiveReader, branch: Branch): string {
  const { state } = reader.follower;
  const last = state.turns.findLast(turn => {
    const tip = state.source(turn.receipt.chain);
    return tip !== undefined && branch.holds(tip);
  });
  const size = last && `${formatBytes(last.receipt.bytes)} of ${formatBytes(last.receipt.budget)}`;
  return [subject.title, size].filter(Boolean).join(' · ');
}

function tailMessage(reader: ArchiveReader): string | undefined {
  const { tail } = reader;
  if (tail.state !== 'damaged') return undefined;
  return `The archive is damaged at byte ${tail.offset}: ${tail.reason} What came before it is shown and safe.`;
}

function iconOf(row: MemoryRow, preparing: boolean): vscode.ThemeIcon {
  const warn = row.oversized || row.clipped ? new vscode.ThemeColor('list.warningForeground') : undefined;
  switch (row.method) {
    case 'verbatim':
      return new vscode.ThemeIcon('quote');
    case 'concat':
      return new vscode.ThemeIcon('list-flat');
    case 'model':
      return new vscode.ThemeIcon(row.clipped ? 'fold-up' : 'fold', warn);
    case 'waiting':
      return new vscode.ThemeIcon(preparing ? 'loading~spin' : 'circle-outline');
  }
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
