import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ArchiveId, Chain, TurnId } from '../../../extension/archive/ids';
import { documentOfPath, pathOfDocument, type StrataDocument } from '../../../extension/vscode/strataUri';

const hex = (length: number) =>
  fc
    .array(fc.constantFrom(...'0123456789abcdef'), { minLength: length, maxLength: length })
    .map(d => d.join(''));

const documents: fc.Arbitrary<StrataDocument> = fc.oneof(
  fc.record(
    {
      kind: fc.constant('original' as const),
      archive: hex(24).map(id => id as ArchiveId),
      chain: hex(32).map(id => id as Chain),
      record: fc.nat(999_999_999),
    },
    { noNullPrototype: true },
  ),
  fc.record(
    {
      kind: fc.constant('view' as const),
      archive: hex(24).map(id => id as ArchiveId),
      turn: fc.stringMatching(/^[0-9A-Za-z-]{1,64}$/).map(id => id as TurnId),
    },
    { noNullPrototype: true },
  ),
);

describe('strata: addresses', () => {
  it('a document comes back from its path, whatever its title', () => {
    fc.assert(
      fc.property(documents, fc.string(), (doc, title) => {
        assert.deepEqual(documentOfPath(pathOfDocument(doc, title)), doc);
      }),
    );
  });

  it('nothing but ids of the exact form passes', () => {
    const id = 'a'.repeat(24);
    const chain = 'b'.repeat(32);
    const wrong = [
      '',
      '/',
      '/etc/passwd',
      `/../${id}/original/${chain}/1/x`,
      `/${id}/original/${chain}/1`,
      `/${id}/original/${chain}/01/x`,
      `/${id}/original/${chain}/-1/x`,
      `/${id}/original/${chain}/1e3/x`,
      `/${id}/original/${chain}/1/../../x`,
      `/${id.toUpperCase()}/original/${chain}/1/x`,
      `/${id}0/original/${chain}/1/x`,
      `/${id}/view/../x`,
      `/${id}/view/a.b/x`,
      `/${id}/view/${'a'.repeat(65)}/x`,
      `/${id}/journal/${chain}/1/x`,
      `/${id}/view/abc/x\n/y`,
    ];
    for (const path of wrong) assert.equal(documentOfPath(path), undefined, path);
  });

  it('whatever the path, an answer holds ids only', () => {
    fc.assert(
      fc.property(fc.string(), path => {
        const doc = documentOfPath(path);
        if (doc) assert.match(doc.archive, /^[0-9a-f]{24}$/);
      }),
    );
  });
});
