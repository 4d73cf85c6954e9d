import { decodeCheckpoint } from './checkpoint';
import type { Uncovered } from './checkpointer';
import { ROOT_CHAIN, type Chain } from './ids';
import { JournalPosition, type JournalPlace } from './journalPosition';
import { parseCommit } from './parseCommit';
import type { CheckpointSource, Frame, FrameRef } from './ports';
import { restore, type Restored } from './restored';
import { recordsThrough } from './source';
import { ArchiveState } from './state';

/** A place in a journal from which on nothing can be believed. */
export interface Damage {
  /** Byte of the journal's first line that does not fit. */
  readonly offset: number;
  readonly reason: string;
}

/** A state that was kept, and the place in a journal that it may be the state of. */
export interface KeptState {
  readonly place: JournalPlace;
  readonly restored: Restored;
}

/**
 * Goes through a journal from its first line and makes the state that it says. With a checkpoint, the lines before its
 * place are only passed: if at that place exactly the lines stand that it was made of, its state is taken, else it is
 * `stale` and says nothing, and the journal has to be gone through again without it.
 */
export class Replay {
  readonly position = new JournalPosition();
  #state: ArchiveState;
  /** A checkpoint is being read. */
  #passing: boolean;
  #awaited: KeptState | undefined;
  #stale = false;
  #damage: Damage | undefined;
  #replayed: Uncovered = { commits: 0, bytes: 0 };

  /**
   * `read` gives the JSON of a journal line. With `checkpoint` lines are only passed until one is given to `expect`:
   * most of what reading a checkpoint takes is waiting.
   */
  constructor(
    private readonly read: (ref: FrameRef) => Promise<string>,
    { checkpoint = false } = {},
  ) {
    this.#passing = checkpoint;
    this.#state = new ArchiveState(read);
  }

  /** Empty until the checkpoint's place is reached. */
  get state(): ArchiveState {
    return this.#state;
  }
  /** What was passed so far may be what this was kept of: the place is not behind it yet. */
  expect(checkpoint: KeptState): void {
    this.#awaited = checkpoint;
    this.#passing = false;
  }

  /** The checkpoint is not this journal's. */
  get stale(): boolean {
    return this.#stale;
  }
  /** The journal has ended before the checkpoint's place. */
  get short(): boolean {
    return this.#passing || this.#awaited !== undefined;
  }
  /** What comes from there on is passed over. */
  get damage(): Damage | undefined {
    return this.#damage;
  }

  /** What was applied line by line, because no checkpoint said it. */
  get replayed(): Uncovered {
    return this.#replayed;
  }

  /** The next lines. */
  take(frames: readonly Frame[]): void {
    for (const frame of frames) {
      if (this.#stale || this.#damage) return;
      this.position.pass(frame);
      if (this.#passing) continue;
      if (this.#awaited) this.#reach(this.#awaited);
      else this.#apply(frame);
    }
  }

  #apply(frame: Frame): void {
    this.#damage = replayFrame(this.#state, frame);
    const { commits, bytes } = this.#replayed;
    this.#replayed = { commits: commits + 1, bytes: bytes + frame.length };
  }

  #reach(checkpoint: KeptState): void {
    const { byte } = this.position;
    if (byte < checkpoint.place.byte) return;
    const { commits, hash } = this.position.place();
    if (
      byte === checkpoint.place.byte &&
      commits === checkpoint.place.commits &&
      hash === checkpoint.place.hash
    ) {
      const state = new ArchiveState(this.read, checkpoint.restored);
      if (namesWhatItHas(state)) {
        this.#state = state;
        this.#awaited = undefined;
        return;
      }
    }
    this.#stale = true;
  }
}

/** What a source of a journal's lines must give. */
interface Readable {
  frames(): AsyncIterable<readonly Frame[]>;
  read(ref: FrameRef): Promise<string>;
  readonly checkpoint?: CheckpointSource;
}

/** Replays a whole journal. Its lines are read once, or twice where the checkpoint turns out to be another journal's. */
export async function replayJournal(journal: Readable): Promise<Replay> {
  const read = (ref: FrameRef): Promise<string> => journal.read(ref);
  const helped = await replayWithCheckpoint(journal, read);
  if (helped) return helped;
  const replay = new Replay(read);
  for await (const frames of journal.frames()) replay.take(frames);
  return replay;
}

/** Undefined when there is no checkpoint, or it is of no use. The lines before its place are checked while it is read. */
async function replayWithCheckpoint(
  journal: Readable,
  read: (ref: FrameRef) => Promise<string>,
): Promise<Replay | undefined> {
  const covers = await journal.checkpoint?.covers();
  if (covers === undefined) return undefined;
  const reading = keptCheckpoint(journal.checkpoint);
  const replay = new Replay(read, { checkpoint: true });
  let kept: KeptState | undefined;
  for await (const frames of journal.frames()) {
    const last = frames.at(-1);
    if (!kept && last && last.offset + last.length >= covers) {
      kept = await reading;
      if (!kept) return undefined;
      replay.expect(kept);
    }
    // To the end in any case: a journal takes lines only when it was read whole.
    replay.take(frames);
  }
  if (!kept) await reading;
  return replay.stale || replay.short ? undefined : replay;
}

/** What is kept, if it is whole and could be of some journal. Bytes of any origin go in. */
export async function keptCheckpoint(source: CheckpointSource | undefined): Promise<KeptState | undefined> {
  const bytes = await source?.read();
  const checkpoint = bytes && (await decodeCheckpoint(bytes));
  if (!checkpoint) return undefined;
  return { place: checkpoint.place, restored: await restore(checkpoint.saved) };
}

/** Applies a journal's next good line to a state; says what is wrong when it is not the line that must come next. */
export function replayFrame(state: ArchiveState, frame: Frame): Damage | undefined {
  const commit = parseCommit(frame.json);
  const reason = commit ? state.apply(commit, frame) : 'the line holds no commit of this format';
  return reason === undefined ? undefined : { offset: frame.offset, reason };
}

/** The last question to a kept state, whose numbers fit each other: whether the branches it names are there. */
function namesWhatItHas(state: ArchiveState): boolean {
  const known = (chain: Chain): boolean => chain === ROOT_CHAIN || state.source(chain) !== undefined;
  return (
    known(state.newest) &&
    state.turns.every(
      ({ receipt }) =>
        known(receipt.chain) && receipt.records === recordsThrough(state.source(receipt.chain)),
    )
  );
}
