import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { ArchiveError } from '../../../extension/archive/archiveError';
import { ROOT_CHAIN, type EntryId } from '../../../extension/archive/ids';
import type { StoredMessage } from '../../../extension/archive/message';
import { capture, capturedTexts, own, ownJournal, png, said, withImage } from './archives';
import { useScratch } from './scratch';

function toolCall(depth: number): StoredMessage {
  let value: unknown = 'bottom';
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { in: value };
  return {
    role: 'assistant',
    content: [{ type: 'toolCall', id: 'c1', name: 'deep', arguments: value }],
    stopReason: 'toolUse',
    timestamp: 1,
  };
}

// D4 32.
const EQUAL: readonly (readonly [string, StoredMessage])[] = [
  ['line and paragraph separators', said('a\u2028b\u2029c')],
  ['NUL and other control characters', said('a\u0000b\u0001\u001b[31mc\u007f')],
  ['a byte order mark', said('\ufeffbegins with one')],
  ['CRLF, CR and LF', said('a\r\nb\rc\nd\n')],
  ['characters beyond the basic plane', said('🙂 👩‍👩‍👧 𝄞')],
  ['text that looks like a journal line', said('00000010aaaaaaaa {"n":0,"at":1,"ops":[]}\n')],
  ['names that objects have of themselves', said('__proto__ constructor')],
  ['JSON 1,000 levels deep', toolCall(1000)],
  ['31 MiB of text', said(`${'0123456789abcdef'.repeat(65536).repeat(31)}`)],
];

describe('Odd content', function () {
  this.timeout(120_000);
  const root = useScratch();

  /** What is in the archive after it was opened again. */
  async function back(message: StoredMessage): Promise<StoredMessage> {
    const { archive, close } = await own(root());
    await archive.append({ capture: capture(0), message });
    await archive.bind({
      after: ROOT_CHAIN,
      sources: [{ entry: 'e0' as EntryId, capture: capture(0), message }],
    });
    await close();
    const again = await own(root());
    assert.equal(again.archive.readOnly, undefined);
    const stored = await again.archive.branch().message(0);
    await again.close();
    return stored;
  }

  for (const [what, message] of EQUAL)
    it(`comes back equal: ${what}`, async () => {
      // Not by deepEqual: it prints 31 MiB when it fails.
      assert.ok(JSON.stringify(await back(message)) === JSON.stringify(message));
    });

  it('comes back with U+FFFD for each lone surrogate, which has no bytes of its own', async () => {
    assert.deepEqual(await back(said('a\ud800b\udc00c 🙂')), said('a\ufffdb\ufffdc 🙂'));
  });

  it('comes back byte by byte: an image of 3 MB of base64', async () => {
    const image = png(3, 2_300_000);
    const message = withImage('large', image);
    const stored = await back(message);
    const block = 'content' in stored ? stored.content[1] : undefined;
    assert.ok(block?.type === 'image' && 'sha256' in block);
    assert.ok(statSync(ownJournal(root())).size < 2000, 'the journal holds its name only');
    const { folder, close } = await own(root());
    const read = await folder.blobs.read(block.sha256);
    assert.ok(read.state === 'whole' && image.equals(read.bytes));
    await close();
  });

  it('is refused with its reason, and nothing of it written, when it is more than an archive takes', async () => {
    const { archive, close } = await own(root());
    await archive.append({ capture: capture(0), message: said('before') });
    const size = statSync(ownJournal(root())).size;
    const asked = [
      archive.append({ capture: capture(1), message: said('x'.repeat(129 * 1024 * 1024)) }),
      archive.append({ capture: capture(2), message: said('beside it') }),
    ] as const;
    await assert.rejects(
      asked[0],
      e =>
        e instanceof ArchiveError &&
        e.code === 'invalid' &&
        /larger than .*everything before it is safe/.test(e.message),
    );
    await asked[1];
    assert.ok(statSync(ownJournal(root())).size < size + 1000);
    await close();
    assert.deepEqual(capturedTexts(ownJournal(root())), ['before', 'beside it']);
  });

  it('says so where JSON is deeper than a journal takes, and keeps the rest', async () => {
    const stored = JSON.stringify(await back(toolCall(5000)));
    assert.match(stored, /nested more than 1000 levels deep/);
  });

  // D4 33.
  it('keeps its order by position when the clock jumps back, and for 1,000 messages of one moment', async () => {
    let time = 2_000_000_000_000;
    const clock = { now: () => (time -= 3_600_000) };
    const { archive, close } = await own(root(), undefined, clock);
    const texts = Array.from({ length: 1000 }, (_, i) => `${i}`);
    const message = (i: number): StoredMessage =>
      said(texts[i] ?? '', i < 500 ? 1_700_000_000_000 : 1_600_000_000_000);
    await Promise.all(texts.map((_, i) => archive.append({ capture: capture(i), message: message(i) })));
    const sources = texts.map((_, i) => ({ entry: `e${i}` as EntryId, capture: capture(i) }));
    await archive.bind({ after: ROOT_CHAIN, sources });
    await close();
    const again = await own(root());
    assert.deepEqual(capturedTexts(ownJournal(root())), texts);
    const branch = again.archive.branch();
    const raws = await Promise.all(texts.map((_, i) => branch.raw(i)));
    assert.deepEqual(
      raws,
      texts.map(text => `user: ${text}`),
    );
    await again.close();
  });
});
