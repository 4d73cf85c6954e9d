import * as vscode from 'vscode';
import { rebuildView } from '../archive/frozenText';
import type { ArchiveReaders } from './archiveReaders';
import { documentOfPath, pathOfDocument, STRATA_SCHEME, type StrataDocument } from './strataUri';

const LANGUAGE = 'strata';

/**
 * Originals and frozen views as read-only documents, so that the editor's own find, copy and compare work on them.
 * A document never changes: its address names a prefix of an ancestry, or a receipt.
 */
export class StrataDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #registered: vscode.Disposable;

  constructor(private readonly readers: ArchiveReaders) {
    this.#registered = vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(STRATA_SCHEME, this),
      vscode.workspace.onDidOpenTextDocument(asProse),
    );
    vscode.workspace.textDocuments.forEach(asProse);
  }

  /** The exact text of the document. Rejects with a sentence, which the editor shows in its place. */
  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const doc = documentOfPath(uri.path);
    if (!doc) throw new Error('This is not an address of something that Strata remembers.');
    return this.text(doc);
  }

  async text(doc: StrataDocument): Promise<string> {
    const reader = await this.readers.reader(doc.archive);
    const { state } = reader.follower;
    if (doc.kind === 'view') {
      const turn = state.turn(doc.turn);
      if (!turn) throw new Error('This archive holds no view of that turn.');
      return (await rebuildView(state, turn.receipt)).text;
    }
    await state.ready(doc.chain);
    const branch = state.branch(doc.chain);
    if (!branch || doc.record >= branch.records)
      throw new Error('This archive does not hold that record. It may have been forgotten.');
    const raw = await branch.raw(doc.record);
    // A raw text is the kind, a colon, a space and the record's own text.
    return raw.slice(branch.record(doc.record).kind.length + 2);
  }

  /** Opens a document in an editor; a preview is replaced by the next one, as in the explorer. */
  async open(doc: StrataDocument, title: string, options: vscode.TextDocumentShowOptions): Promise<void> {
    const uri = vscode.Uri.from({ scheme: STRATA_SCHEME, path: pathOfDocument(doc, title) });
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), options);
  }

  dispose(): void {
    this.#registered.dispose();
  }
}

/** Our documents have a language of their own, whose default is to wrap: lines of messages and views are long. */
function asProse(document: vscode.TextDocument): void {
  if (document.uri.scheme === STRATA_SCHEME && document.languageId !== LANGUAGE)
    void vscode.languages.setTextDocumentLanguage(document, LANGUAGE);
}
