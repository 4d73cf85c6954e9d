import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { sha256Hex } from '../../extension/archive/canonical';
import { blobFaults } from '../../extension/archive/journalSurvey';
import { readArchive, survey } from '../../extension/cli/readArchive';
import { Sandbox, viewOf, type Received } from '../support/pi';
import type { PiRpc } from '../support/piRpc';

/** A valid PNG of 24 by 24 points, another one for each number. */
function png(seed: number): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    const out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length, 0);
    body.copy(out, 4);
    out.writeUInt32BE(crc32(body), body.length + 4);
    return out;
  };
  const size = 24;
  const head = Buffer.alloc(13);
  head.writeUInt32BE(size, 0);
  head.writeUInt32BE(size, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const rows = Buffer.alloc(size * (1 + size * 3));
  for (let i = 0; i < rows.length; i++)
    rows[i] = i % (1 + size * 3) === 0 ? 0 : (i * 73 + seed * 31 + (i >> 4)) & 0xff;
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const PROMPTED = png(1);
const READ = png(2);
const LONG = 'so much text that only a model can make one line of it, again and again. '.repeat(20);

describe('an image in a session of the real Pi', function () {
  this.timeout(120_000);
  let box: Sandbox;
  let pi: PiRpc;
  const requests: Received[][] = [];

  before(async () => {
    box = await Sandbox.make({ contextWindow: 32_000 });
    const models = path.join(box.agent, 'models.json');
    writeFileSync(models, readFileSync(models, 'utf8').replaceAll('"text"', '"text", "image"'));
    writeFileSync(path.join(box.project, 'picture.png'), READ);
    await box.host();
    pi = box.rpc();
    await turn(`look at this ${LONG}\n!tool read {"path":"picture.png"}\n!say seen`, [PROMPTED]);
    await turn('and now\n!say later', []);
  });
  after(async () => {
    await pi.close();
    await box.close();
  });

  async function turn(message: string, images: readonly Buffer[]): Promise<void> {
    const from = pi.events.length;
    const sent = box.turns.length;
    const answer = await pi.send('prompt', {
      message,
      images: images.map(image => ({ type: 'image', mimeType: 'image/png', data: image.toString('base64') })),
    });
    assert.equal((answer['data'] as { disposition?: string }).disposition, 'started', JSON.stringify(answer));
    await pi.until('the turn to settle', event => event.type === 'agent_settled', 60_000, from);
    assert.deepEqual(
      pi.events.slice(from).filter(event => event.type === 'extension_error'),
      [],
    );
    requests.push(box.turns.slice(sent));
  }

  const base64 = (image: Buffer): string => image.toString('base64');

  it('leaves for the model with its bytes unchanged, from a prompt and from a tool', () => {
    const [first, second] = requests[0] ?? [];
    assert.ok(first && second && requests[0]?.length === 2);
    assert.ok(JSON.stringify(first.body).includes(base64(PROMPTED)));
    for (const image of [PROMPTED, READ]) assert.ok(JSON.stringify(second.body).includes(base64(image)));
  });

  it('is a marker in the view of later turns, and nothing of its bytes', () => {
    const [later] = requests[1] ?? [];
    assert.ok(later && requests[1]?.length === 1);
    const view = viewOf(later);
    assert.ok(view !== undefined);
    assert.match(view, /echo: read: .*\[image\]/);
    const body = JSON.stringify(later.body);
    for (const image of [PROMPTED, READ]) assert.ok(!body.includes(base64(image).slice(0, 48)));
  });

  it('never reaches the compactor', () => {
    const jobs = box.model.requests.filter(request => request.compactor);
    assert.ok(jobs.length > 0, 'nothing was summarised');
    for (const job of jobs)
      for (const image of [PROMPTED, READ])
        assert.ok(!JSON.stringify(job.body).includes(base64(image).slice(0, 48)));
  });

  it('is stored once, as a blob that the journal names, and no base64 stands in the journal', async () => {
    const [dir] = box.archives;
    assert.ok(dir !== undefined && box.archives.length === 1);
    const journal = readFileSync(path.join(dir, 'journal-1.jsonl'), 'utf8');
    for (const image of [PROMPTED, READ]) {
      assert.ok(!journal.includes(base64(image).slice(0, 48)));
      assert.ok(journal.includes(sha256Hex(image)));
      assert.ok(readFileSync(path.join(dir, 'blobs', sha256Hex(image))).equals(image));
    }
    const archive = await readArchive(dir);
    const { images, orphans, superseded } = await survey(archive);
    assert.deepEqual(images.map(({ sha256 }) => sha256).sort(), [PROMPTED, READ].map(sha256Hex).sort());
    assert.deepEqual([orphans.length, superseded], [0, 0]);
    assert.deepEqual(await blobFaults(images, archive.blobs), []);
    const records: string[] = [];
    const branch = archive.state.branch(archive.state.newest);
    for (let i = 0; branch && i < branch.records; i++) records.push(await branch.raw(i));
    assert.ok(records.some(raw => raw.startsWith('user: look at this') && raw.endsWith('\n[image]')));
    assert.ok(records.some(raw => /^echo: read: [^]*\[image\]$/.test(raw)));
  });
});
