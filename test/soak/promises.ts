import { readFileSync } from 'node:fs';
import { sourcesOf } from '../../extension/archive/ancestry';
import { nextChain, sourceKey } from '../../extension/archive/canonical';
import { ArchiveFollower } from '../../extension/archive/follower';
import { ROOT_CHAIN, type Chain } from '../../extension/archive/ids';
import { blobFaults } from '../../extension/archive/journalSurvey';
import { recordsOf } from '../../extension/archive/normalise';
import { linesOf, parseSessionFile, pathTo } from '../../extension/archive/sessionFile';
import type { ArchiveState } from '../../extension/archive/state';
import { verifyState } from '../../extension/archive/verify';
import { readArchive, survey } from '../../extension/cli/readArchive';
import { viewOf, type Received, type Sandbox } from '../support/pi';
import { viewBytes } from '../support/owner';

/** What was promised, compared with what is there. What is not kept is told to `broken`, in a sentence. */
export class Promises {
  readonly #followers = new Map<string, ArchiveFollower>();
  /** Bytes of each journal that were read as good before: they may never change. */
  readonly #kept = new Map<string, Buffer>();
  readonly #views = new Map<string, string>();
  #seen = 0;
  requests = 0;

  constructor(
    private readonly box: Sandbox,
    private readonly broken: (text: string) => void,
  ) {}

  /** Requests since the last look: the same view in all of a turn, whole and without a gap, and no raw history. */
  requestsSince(): void {
    const news = this.box.turns.slice(this.#seen);
    this.#seen = this.box.turns.length;
    for (const request of news) {
      this.requests++;
      const token = tokenOf(request);
      if (request.historyBytes !== 0)
        this.broken(`a request of ${token} carried ${request.historyBytes} bytes of raw history`);
      const view = viewOf(request);
      const bytes = view === undefined ? '' : viewBytes(request);
      const before = this.#views.get(token);
      if (before !== undefined && before !== bytes)
        this.broken(`two requests of ${token} carried different views`);
      this.#views.set(token, bytes);
      let at = 0;
      for (const [start, count] of addressesOf(request)) {
        if (start !== at) this.broken(`the view of ${token} has a gap at ${at}`);
        at += count;
      }
    }
  }

  /** The view of a session's last turn covers all that was said before it. */
  viewOfLastTurn(sessionFile: string, token: string): void {
    const request = this.box.turns.findLast(each => tokenOf(each) === token);
    if (!request) return;
    const [start, count] = addressesOf(request).at(-1) ?? [0, 0];
    const path = pathTo(lastOf(sessionFile));
    const marker = path.findLastIndex(entry => entry.type === 'custom' && entry.customType === 'strata.run');
    const said = recordsIn(path.slice(0, marker));
    if (start + count !== said)
      this.broken(`the view of ${token} covers ${start + count} records of ${said}`);
  }

  /** Every branch of a session, or its live one alone, is in its archive, once and in order. */
  async session(archive: string, sessionFile: string, which: 'live' | 'all'): Promise<void> {
    const { state } = await readArchive(archive);
    const leaves = which === 'all' ? (parsed(sessionFile)?.leaves ?? []) : [lastOf(sessionFile)];
    for (const leaf of leaves) {
      const path = pathTo(leaf);
      let chain: Chain = ROOT_CHAIN;
      for (const { message } of sourcesOf(path)) chain = nextChain(chain, sourceKey(message));
      const records = state.branch(chain)?.records;
      if (records !== recordsIn(path))
        this.broken(
          `${sessionFile}: of ${recordsIn(path)} records up to line ${leaf.line} the archive has ${records}`,
        );
    }
  }

  /** The journal only ever grew, and a reader from the start sees what a new one sees, with the checkpoint and without. */
  async reader(archive: string): Promise<void> {
    const fresh = await readArchive(archive);
    const bytes = readFileSync(fresh.journal);
    const torn = fresh.tail.state === 'torn' ? fresh.tail.bytes : 0;
    if (fresh.tail.state === 'damaged') this.broken(`${archive} is damaged: ${fresh.tail.reason}`);
    const before = this.#kept.get(archive);
    if (before && !before.equals(bytes.subarray(0, before.length)))
      this.broken(`${archive}: the journal changed where it had been read`);
    this.#kept.set(archive, bytes.subarray(0, bytes.length - torn));
    const follower = this.#followers.get(archive) ?? new ArchiveFollower(fresh.source);
    this.#followers.set(archive, follower);
    const plain = new ArchiveFollower({
      read: at => fresh.source.read(at),
      frame: ref => fresh.source.frame(ref),
    });
    // Its owner may write meanwhile: two readings that are alike say what all three must see.
    for (let i = 0; i < 5; i++) {
      const first = factsOf((await readArchive(archive)).state);
      await Promise.all([follower.refresh(), plain.refresh()]);
      if (first !== factsOf((await readArchive(archive)).state)) continue;
      if (factsOf(follower.state) !== first)
        this.broken(`${archive}: the reader that follows sees something else`);
      if (factsOf(plain.state) !== first)
        this.broken(`${archive}: the checkpoint says something else than the journal`);
      return;
    }
  }

  /** As `strata verify`: every original, image and view is what its hash says. */
  async verify(archive: string): Promise<{ orphans: number; views: number; superseded: number }> {
    const read = await readArchive(archive);
    const { faults, views } = await verifyState(read.state);
    const { orphans, superseded, images } = await survey(read);
    for (const { text } of [...faults, ...(await blobFaults(images, read.blobs))])
      this.broken(`${archive}: ${text}`);
    return { orphans: orphans.length, views, superseded };
  }
}

function tokenOf({ conversation }: Received): string {
  const said = conversation.said.findLast(({ role, text }) => role === 'user' && !text.startsWith('<chat>'));
  return /\bT\d+T/.exec(said?.text ?? '')?.[0] ?? 'a prompt without a token';
}

/** Start and count of each line of a request's view. */
function addressesOf(request: Received): readonly (readonly [number, number])[] {
  const lines = (viewOf(request) ?? '').split('\n').slice(1, -1);
  return lines.map(line => {
    const [, start, count] = /^(\d+)\+(\d+)\|/.exec(line) ?? [];
    return [Number(start), Number(count)];
  });
}

const parsed = (file: string) => parseSessionFile(linesOf(readFileSync(file)));

function lastOf(file: string) {
  const last = parsed(file)?.nodes.at(-1);
  if (!last) throw new Error(`${file} holds no entry`);
  return last;
}

function recordsIn(path: Parameters<typeof sourcesOf>[0]): number {
  return sourcesOf(path).reduce((sum, { message }) => sum + recordsOf(message).length, 0);
}

function factsOf(state: ArchiveState): string {
  return JSON.stringify({
    commits: state.commits,
    newest: state.newest,
    mode: state.mode,
    turns: state.turns.map(({ id, sent }) => [id, sent]),
    tips: state
      .tips()
      .map(({ chain }) => [chain, state.branch(chain)?.records, state.branch(chain)?.built])
      .sort(),
    orphans: state.orphans,
    lines: state.modelLines,
  });
}
