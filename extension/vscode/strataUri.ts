import type { ArchiveId, Chain, TurnId } from '../archive/ids';

export const STRATA_SCHEME = 'strata';

/**
 * What a `strata:` document shows. A chain names a prefix of an ancestry for ever, so the text behind such an address
 * never changes, and editors may keep it.
 */
export type StrataDocument =
  | {
      readonly kind: 'original';
      readonly archive: ArchiveId;
      readonly chain: Chain;
      /** Index of the record on the branch that `chain` names. */
      readonly record: number;
    }
  | { readonly kind: 'view'; readonly archive: ArchiveId; readonly turn: TurnId };

/** The path of a document's URI. Its last part is only what the tab shows. */
export function pathOfDocument(doc: StrataDocument, title: string): string {
  const name = title.replace(/[/\\\s]+/g, ' ').trim() || doc.kind;
  return doc.kind === 'original'
    ? `/${doc.archive}/original/${doc.chain}/${doc.record}/${name}`
    : `/${doc.archive}/view/${doc.turn}/${name}`;
}

/**
 * The document that a path names; undefined for anything else. A URI can come from any extension or link, so only
 * ids of the exact form pass, and nothing of it is ever joined to a path.
 */
export function documentOfPath(path: string): StrataDocument | undefined {
  const original = /^\/([0-9a-f]{24})\/original\/([0-9a-f]{32})\/(0|[1-9]\d{0,8})\/[^/]+$/.exec(path);
  if (original)
    return {
      kind: 'original',
      archive: original[1] as ArchiveId,
      chain: original[2] as Chain,
      record: Number(original[3]),
    };
  // Pi's entry ids are 8 hex digits, or a UUID.
  const view = /^\/([0-9a-f]{24})\/view\/([0-9A-Za-z-]{1,64})\/[^/]+$/.exec(path);
  if (view) return { kind: 'view', archive: view[1] as ArchiveId, turn: view[2] as TurnId };
  return undefined;
}
