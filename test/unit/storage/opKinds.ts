import { ROOT_CHAIN, type Chain, type EntryId, type TurnId } from '../../../extension/archive/ids';
import type { Archive } from '../../../extension/archive/archive';
import type { ArchiveState } from '../../../extension/archive/state';
import { bind, echo, prepare, talk, text, user } from '../engine/conversation';
import { FakeCompactor } from '../engine/fakeCompactor';
import { capture } from './archives';

/** One kind of op: how to come to it, and how to see that it is stored. */
export interface OpKind {
  readonly name: 'message' | 'bind' | 'node' | 'partition' | 'receipt' | 'sent' | 'mode';
  /** What stands before, all of it acknowledged. */
  readonly before: (archive: Archive) => Promise<unknown>;
  /** The step whose commit holds the op. Asking again after a crash completes it. */
  readonly step: (archive: Archive) => Promise<unknown>;
  readonly isStored: (state: ArchiveState) => boolean;
}

const MESSAGES = [user('please'), talk(text('long answer', 700)), echo(text('output', 900)), talk('done')];

const nothing = (): Promise<void> => Promise.resolve();
const conversation = (archive: Archive): Promise<Chain> => bind(archive, MESSAGES);
const turn = async (archive: Archive): Promise<unknown> =>
  prepare(archive, 't1', await conversation(archive), new FakeCompactor());

export const OP_KINDS: readonly OpKind[] = [
  {
    name: 'message',
    before: conversation,
    step: archive => archive.append({ capture: capture(0), message: user('captured') }),
    isStored: state => state.captured(capture(0)) !== undefined,
  },
  {
    name: 'bind',
    before: archive => archive.append({ capture: capture(0), message: user('captured') }),
    step: archive =>
      archive.bind({ after: ROOT_CHAIN, sources: [{ entry: 'e0' as EntryId, capture: capture(0) }] }),
    isStored: state => state.sources === 1,
  },
  { name: 'node', before: conversation, step: turn, isStored: state => state.modelLines > 0 },
  {
    name: 'partition',
    before: conversation,
    step: turn,
    isStored: state => state.mark(state.newest).chain !== ROOT_CHAIN,
  },
  {
    // On an empty branch a receipt stands alone.
    name: 'receipt',
    before: nothing,
    step: archive => prepare(archive, 't1', ROOT_CHAIN, new FakeCompactor()),
    isStored: state => state.turn('t1') !== undefined,
  },
  {
    name: 'sent',
    before: turn,
    step: archive => archive.settled({ turn: 't1' as TurnId, requests: 2, status: 200 }),
    isStored: state => state.turn('t1')?.sent !== undefined,
  },
  {
    name: 'mode',
    before: conversation,
    step: archive => archive.setMode(false),
    isStored: state => state.mode === false,
  },
];
