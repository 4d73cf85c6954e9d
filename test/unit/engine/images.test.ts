import assert from 'node:assert/strict';
import { ArchiveError } from '../../../extension/archive/archiveError';
import { sha256Hex, sourceKey } from '../../../extension/archive/canonical';
import { ROOT_CHAIN, type EntryId } from '../../../extension/archive/ids';
import { imageBytes, storedImages } from '../../../extension/archive/images';
import { blobFaults, surveyJournal } from '../../../extension/archive/journalSurvey';
import type { ImageBlock, StoredMessage } from '../../../extension/archive/message';
import { parseMessage } from '../../../extension/archive/parseMessage';
import { MemoryBlobs } from '../../../extension/storage/memoryBlobs';
import { bind, capture, openArchive, source, user } from './conversation';
import { FaultyJournal } from './faultyJournal';

const BYTES = Buffer.from(Array.from({ length: 3000 }, (_, i) => (i * 7) & 0xff));
const BASE64 = BYTES.toString('base64');
const NAME = sha256Hex(BYTES);
const WITH_IMAGE: StoredMessage = {
  role: 'user',
  content: [
    { type: 'text', text: 'look at this' },
    { type: 'image', mimeType: 'image/png', data: BASE64 },
  ],
  timestamp: 1_700_000_000_000,
};
const TOOL_RESULT: StoredMessage = {
  role: 'toolResult',
  toolCallId: 'c1',
  toolName: 'read',
  isError: false,
  content: [{ type: 'image', mimeType: 'image/png', data: BASE64 }],
  timestamp: 1_700_000_000_001,
};

class FullBlobs extends MemoryBlobs {
  full = true;
  override put(bytes: Uint8Array): Promise<string> {
    return this.full ? Promise.reject(new Error('no space left on device')) : super.put(bytes);
  }
}

describe('an image', () => {
  it('is a blob that the journal names, in a captured and in a bound message, and once for both', async () => {
    const journal = new FaultyJournal();
    const blobs = new MemoryBlobs();
    const archive = await openArchive(journal, { blobs });
    await archive.append({ capture: capture(0), message: WITH_IMAGE });
    const chain = await bind(archive, [TOOL_RESULT]);
    assert.equal(journal.lines.length, 2);
    for (const line of journal.lines) {
      assert.ok(!line.includes(BASE64.slice(0, 40)), 'base64 in the journal');
      assert.ok(
        line.includes(`{"type":"image","mimeType":"image/png","sha256":"${NAME}","bytes":${BYTES.length}}`),
      );
    }
    const read = await blobs.read(NAME);
    assert.ok(read.state === 'whole' && BYTES.equals(read.bytes));
    assert.equal(await archive.branch(chain).raw(0), 'echo: read: [image]');
  });

  it('leaves the key of its message as it was, however its bytes are kept', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    await archive.append({ capture: capture(0), message: WITH_IMAGE });
    assert.equal(archive.state.captured(capture(0))?.key, sourceKey(WITH_IMAGE));
    const other = {
      ...WITH_IMAGE,
      content: [{ type: 'image', mimeType: 'x', data: 'AAAA' }],
    } as StoredMessage;
    assert.notEqual(sourceKey(other), sourceKey(WITH_IMAGE));
    // The entry's own message, inline as Pi has it, is the captured one.
    const reply = await archive.bind({
      after: ROOT_CHAIN,
      sources: [{ entry: 'e0' as EntryId, capture: capture(0), message: WITH_IMAGE }],
    });
    assert.ok(reply.ok);
    assert.ok(!(journal.lines[1] ?? '').includes('"message"'), 'bound by reference');
    const stored = await archive.branch().message(0);
    assert.equal(sourceKey(stored), sourceKey(WITH_IMAGE));
  });

  it('reads back for whoever has the blobs, also from a journal that still holds it inline', async () => {
    const written = new FaultyJournal();
    const blobs = new MemoryBlobs();
    await bind(await openArchive(written, { blobs }), [WITH_IMAGE]);
    const [line = ''] = written.lines;
    const inline = line.replace(`"sha256":"${NAME}","bytes":${BYTES.length}`, `"data":"${BASE64}"`);
    assert.notEqual(inline, line);
    for (const [lines, from] of [
      [[line], blobs],
      [[inline], new MemoryBlobs()],
    ] as const) {
      const archive = await openArchive(await FaultyJournal.of(lines));
      assert.equal(archive.readOnly, undefined);
      const message = await archive.branch().message(0);
      const image = 'content' in message ? message.content[1] : undefined;
      const read = await imageBytes(image as ImageBlock, from);
      assert.ok(read.state === 'whole' && BYTES.equals(read.bytes));
    }
  });

  it('that could not be stored lets nothing of its message be acknowledged, and later messages go on', async () => {
    const journal = new FaultyJournal();
    const blobs = new FullBlobs();
    const archive = await openArchive(journal, { blobs });
    const [first, second] = await Promise.allSettled([
      archive.append({ capture: capture(0), message: WITH_IMAGE }),
      archive.append({ capture: capture(1), message: user('text only') }),
    ]);
    assert.ok(
      first.status === 'rejected' &&
        first.reason instanceof ArchiveError &&
        /An image of 3000 bytes could not be stored: no space left.*Free some disk space/.test(
          first.reason.message,
        ),
    );
    assert.equal(second.status, 'fulfilled');
    await assert.rejects(bind(archive, [TOOL_RESULT]), /An image of 3000 bytes/);
    assert.equal(journal.lines.length, 1);
    blobs.full = false;
    await archive.append({ capture: capture(0), message: WITH_IMAGE });
    assert.equal(storedImages(WITH_IMAGE).length, 0);
    assert.equal(journal.lines.length, 2);
  });

  it('keeps its place among the messages that were sent around it', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    const messages = [user('before'), WITH_IMAGE, user('after'), user('last')];
    await Promise.all(messages.map((message, i) => archive.append({ capture: capture(i), message })));
    const order = journal.lines.map(line => /before|look|after|last/.exec(line)?.[0]);
    assert.deepEqual(order, ['before', 'look', 'after', 'last']);
  });

  it('is written once for a capture that is sent again while it is on its way', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    await Promise.all([1, 2, 3].map(() => archive.append({ capture: capture(0), message: WITH_IMAGE })));
    assert.equal(journal.lines.length, 1);
  });

  it('from outside can name no blob: only its own bytes count', async () => {
    const claim = {
      role: 'user',
      content: [{ type: 'image', mimeType: 'image/png', sha256: NAME, bytes: 1 }],
    };
    assert.deepEqual(parseMessage(claim), {
      role: 'user',
      content: [{ type: 'other', name: 'image' }],
      timestamp: 0,
    });
    const journal = new FaultyJournal();
    await bind(await openArchive(journal), [claim as unknown as StoredMessage]);
    assert.ok(!journal.lines.join().includes(NAME));
  });

  it('that is missing is reported with its place, and everything else is read', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal, { blobs: new MemoryBlobs() });
    await bind(archive, [user('text'), WITH_IMAGE]);
    await bind(archive, [WITH_IMAGE]);
    const { images } = await surveyJournal(journal.source);
    assert.deepEqual(images, [{ sha256: NAME, bytes: BYTES.length, offset: 0 }]);
    const faults = await blobFaults(images, new MemoryBlobs());
    assert.deepEqual(faults, [{ offset: 0, text: `the image ${NAME} it names is missing` }]);
    assert.equal(await archive.branch().raw(0), 'user: look at this\n[image]');
  });
});

describe('what a journal keeps beside its branches', () => {
  it('are messages that were never bound, and texts that lost against their entry', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    for (const i of [0, 1, 2, 3])
      await archive.append({ capture: capture(i), message: user(`captured ${i}`) });
    await archive.bind({
      after: ROOT_CHAIN,
      sources: [
        { entry: 'e0' as EntryId, capture: capture(0), message: user('captured 0') },
        { entry: 'e1' as EntryId, capture: capture(1), message: user('as Pi kept it') },
        source('e2', user('never captured')),
      ],
    });
    const survey = await surveyJournal(journal.source);
    assert.deepEqual(survey, { orphans: [capture(2), capture(3)], superseded: 1, images: [] });
    assert.equal(archive.state.orphans, 2);
  });

  it('stays the same when the session is opened again and everything is sent again', async () => {
    const journal = new FaultyJournal();
    const archive = await openArchive(journal);
    const sources = [{ entry: 'e0' as EntryId, capture: capture(0), message: user('the entry') }];
    await archive.append({ capture: capture(0), message: user('the capture') });
    await archive.append({ capture: capture(1), message: user('an orphan') });
    await archive.bind({ after: ROOT_CHAIN, sources });
    const before = await surveyJournal(journal.source);
    const again = await FaultyJournal.of(journal.lines);
    const reopened = await openArchive(again);
    await reopened.append({ capture: capture(0), message: user('the capture') });
    await reopened.append({ capture: capture(1), message: user('an orphan') });
    await reopened.bind({ after: ROOT_CHAIN, sources });
    assert.deepEqual(again.lines, journal.lines);
    assert.deepEqual(await surveyJournal(again.source), before);
  });

  it('binds an orphan when its entry turns up later', async () => {
    const journal = new FaultyJournal();
    await (await openArchive(journal)).append({ capture: capture(0), message: user('late') });
    const archive = await openArchive(await FaultyJournal.of(journal.lines));
    assert.equal(archive.state.orphans, 1);
    await archive.bind({
      after: ROOT_CHAIN,
      sources: [{ entry: 'e0' as EntryId, capture: capture(0), message: user('late') }],
    });
    assert.equal(archive.state.orphans, 0);
    assert.equal(await archive.branch().raw(0), 'user: late');
  });
});
