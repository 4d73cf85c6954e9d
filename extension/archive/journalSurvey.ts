import { sourceKey } from './canonical';
import { captureId, type Capture, type CaptureId } from './ids';
import { storedImages } from './images';
import type { BindOp, MessageOp } from './ops';
import { parseCommit } from './parseCommit';
import type { BlobSource, JournalSource } from './ports';
import type { Fault } from './verify';

/** An image that a journal names. */
export interface NamedImage {
  readonly sha256: string;
  readonly bytes: number;
  /** Byte of the first journal line that names it. */
  readonly offset: number;
}

/** What a journal keeps beside its branches. */
export interface JournalSurvey {
  /** Captured messages that no branch holds, in the order they came. */
  readonly orphans: readonly Capture[];
  /** Captured texts that differ from the entry which won over them, and are kept. */
  readonly superseded: number;
  /** Each image once. */
  readonly images: readonly NamedImage[];
}

interface Kept {
  readonly capture: Capture;
  readonly key: string;
  bound: boolean;
}

/** Reads a journal's good lines from the start. Rejects as `JournalSource.read` does. */
export async function surveyJournal(source: JournalSource): Promise<JournalSurvey> {
  const survey = new Survey();
  let next = 0;
  for (;;) {
    const read = await source.read(next);
    for (const { json, offset } of read.frames)
      for (const op of parseCommit(json)?.ops ?? [])
        if (op.op === 'message' || op.op === 'bind') survey.add(op, offset);
    if (read.next === next) return survey.result();
    next = read.next;
  }
}

/** What is wrong with the blobs that a journal names: every byte of each is checked. */
export async function blobFaults(images: readonly NamedImage[], blobs: BlobSource): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const { sha256, bytes, offset } of images) {
    const read = await blobs.read(sha256);
    if (read.state === 'missing') faults.push({ offset, text: `the image ${sha256} it names is missing` });
    else if (read.state === 'damaged')
      faults.push({ offset, text: `the image ${sha256} it names is damaged: ${read.reason}` });
    else if (read.bytes.length !== bytes)
      faults.push({
        offset,
        text: `the image ${sha256} it names has ${read.bytes.length} bytes, not ${bytes}`,
      });
  }
  return faults;
}

class Survey {
  readonly #kept = new Map<CaptureId, Kept>();
  readonly #images = new Map<string, NamedImage>();
  #superseded = 0;

  add(op: MessageOp | BindOp, offset: number): void {
    if (op.message)
      for (const { sha256, bytes } of storedImages(op.message))
        if (!this.#images.has(sha256)) this.#images.set(sha256, { sha256, bytes, offset });
    if (!op.capture) return;
    const id = captureId(op.capture);
    const kept = this.#kept.get(id);
    if (op.op === 'message') {
      if (!kept) this.#kept.set(id, { capture: op.capture, key: sourceKey(op.message), bound: false });
    } else if (kept && !kept.bound) {
      kept.bound = true;
      if (op.message && sourceKey(op.message) !== kept.key) this.#superseded++;
    }
  }

  result(): JournalSurvey {
    const orphans = [...this.#kept.values()].filter(({ bound }) => !bound);
    return {
      orphans: orphans.map(({ capture }) => capture),
      superseded: this.#superseded,
      images: [...this.#images.values()],
    };
  }
}
