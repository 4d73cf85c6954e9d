import type { Chain, TurnId } from '../archive/ids';
import type { FrozenView, ModelLimits, Progress } from '../archive/requests';
import { ask } from '../link/ask';
import { LinkError, type Owner } from '../link/protocol';
import { finished } from './capture';
import { markBlocks } from './cacheMark';
import { entriesSince, newestRun, runHasMemory, runMarker } from './marker';
import { START_LIMIT_MS, reasonOf } from './ownership';
import type { ExtensionContext, PiMessage, PiModel } from './piTypes';
import { anchorIn, liveTurn, projected } from './projection';
import type { Patience } from './reconcile';
import { checkSize, sizeOfRequest } from './requestGuard';
import type { MemorySession } from './session';
import { memoryFailed, memoryUnavailable } from './stop';

/** One message into the archive, with its fsync. */
const STEP_LIMIT_MS = 30_000;
/** A view may need many summaries, so only silence is limited: an owner at work shows progress. Esc ends it any time. */
const SILENCE_LIMIT_MS = 300_000;

/** A submission and all up to settlement: its receipt is kept through steering, follow-ups, retries and `/model`. */
export interface Turn {
  /** The entry id of its run marker. */
  readonly id: TurnId;
  /** False: captured, but Pi sends its own history. */
  projected: boolean;
  /** Counts the captured messages. */
  ordinal: number;
  /** Requests that left for the provider, and the status of the last answer. */
  requests: number;
  status: number | null;
  /** A person ended a wait for the owner: this turn asks it for nothing more. */
  gaveUp: boolean;
  /** What the first request froze. */
  frozen: { readonly chain: Chain; readonly view: FrozenView } | undefined;
}

/** `before_agent_start`: who owns the archive now, and the run marker. What fails here stops the first request. */
export async function beginTurn(session: MemorySession, ctx: ExtensionContext): Promise<void> {
  await session.start();
  session.turn = undefined;
  session.failure = undefined;
  const settled = await session.settle();
  if (settled.state === 'none') {
    if (session.memory) session.failure = { reason: memoryUnavailable(settled.reason), shown: false };
    session.showState();
    return;
  }
  session.pi.appendEntry(...runMarker(session.memory));
  // `appendEntry` gives no id, but the new entry is the leaf.
  const id = newestRun(session.ancestry.session);
  if (id === undefined || id !== ctx.sessionManager.getLeafId()) {
    session.failure = { reason: memoryFailed('Pi did not keep the mark of this turn'), shown: false };
    return;
  }
  session.turn = turnOf(id, session.memory, 0);
}

/**
 * `message_end`: the message is on stable storage in the archive, or the turn is stopped. While memory is off a
 * message that cannot be stored now is bound later.
 */
export async function finishMessage(
  session: MemorySession,
  message: PiMessage,
  ctx: ExtensionContext,
): Promise<void> {
  await session.start();
  const { owner, failure } = session;
  if (failure || (!owner && !session.memory)) return;
  const turn = session.turn ?? recoverTurn(session);
  const marker = turn?.id ?? ctx.sessionManager.getLeafId() ?? '-';
  const done = finished(message, marker, turn?.ordinal ?? 0);
  if (!done || turn?.gaveUp) return;
  if (turn) turn.ordinal++;
  try {
    // Sent again to the next owner when this one goes away before it has acknowledged it.
    await session.withOwner(ctx.signal, now =>
      session.storing(
        ask(cancelled => now.append(done.request, cancelled), {
          ...step(ctx),
          what: 'VS Code to store this step',
        }),
      ),
    );
    session.captures.acknowledged(message, done);
  } catch (error) {
    // The person's own Esc while we waited: the run is over, and the next prompt catches up.
    if (giveUp(session, ctx)) return;
    if (turn?.projected ?? session.memory) session.fail(memoryFailed(reasonOf(error)), ctx);
  }
}

/** `context_with_system`: the messages of this request, or undefined to leave Pi's own. Throws to stop the turn. */
export async function projectRequest(
  session: MemorySession,
  messages: readonly PiMessage[],
  ctx: ExtensionContext,
): Promise<PiMessage[] | undefined> {
  await session.start();
  const turn = session.turn ?? recoverTurn(session);
  if (!turn) {
    if (!session.memory) return undefined;
    throw new Error('Pi started a run without saying so, and its beginning is not marked');
  }
  if (!turn.projected) return undefined;
  const view = await frozenView(session, turn, ctx);
  if (!view) return undefined;
  checkHistory(session, turn);
  const before = ctx.sessionManager.getEntry(turn.id)?.parentId;
  const after = entriesSince(session.ancestry.session, turn.id) ?? [];
  const live = liveTurn(
    before ? ctx.sessionManager.getEntry(before) : undefined,
    after,
    session.functions.sessionEntryToContextMessages,
  );
  const anchor = live ? anchorIn(messages, live) : -1;
  if (anchor < 0) throw new Error('another extension changed or removed the prompt of this turn');
  const { functions } = session;
  const request = projected(messages, anchor, view, functions.getCurrentSystemMessage);
  const model = ctx.model as PiModel;
  const first = request.length - (messages.length - anchor);
  checkSize(sizeOfRequest(request, first, model, functions.estimateTokens), model.name);
  return request;
}

/**
 * `before_provider_request`: the payload with the provider's cache told how far the view stays as it is, or undefined
 * where nothing is to be changed. Says once when another extension has changed the view.
 */
export function markRequest(
  session: MemorySession,
  turn: Turn,
  payload: unknown,
  ctx: ExtensionContext,
): unknown {
  const blocks = turn.frozen?.view.blocks;
  if (!turn.projected || !blocks || !ctx.model) return undefined;
  const marking = markBlocks(payload, (ctx.model as PiModel).api, blocks);
  if (marking.state === 'marked') return marking.payload;
  if (marking.why === 'view-changed')
    session.footer.notifyOnce(
      'Another extension changes what Strata remembers before it is sent, so the model sees something else than what is kept as its view.',
      'warning',
    );
  return undefined;
}

/** `turn_end`: gives what was captured in this step its entry ids. What fails is tried again at the next prompt. */
export async function bindStep(session: MemorySession, ctx: ExtensionContext): Promise<void> {
  const { owner } = session;
  if (session.failure || session.turn?.gaveUp || !owner) return;
  try {
    await session.reconcile(owner, step(ctx));
  } catch {
    // A message that cannot be stored stops the turn; one that is stored and not bound yet does not.
  }
}

/** `agent_settled`: the rest of the branch, and what the turn sent. */
export async function settleTurn(session: MemorySession): Promise<void> {
  const { turn, failure } = session;
  session.turn = undefined;
  try {
    const { owner } = session;
    if (owner && !turn?.gaveUp) {
      await session.reconcile(owner, { ms: START_LIMIT_MS, signal: undefined });
      session.captures.clear();
    }
    if (turn?.frozen) {
      const { id, requests, status } = turn;
      await session.report({ turn: id, requests, status }, !turn.gaveUp);
    }
    if (turn?.gaveUp)
      session.footer.show('memory: the turn ended while it waited for VS Code; the next prompt catches up');
    else session.showState();
  } catch (error) {
    if (failure || !session.memory) session.showState();
    else session.footer.show(`memory: behind, the next prompt catches up (${reasonOf(error)})`);
  }
  if (failure && !failure.shown) {
    failure.shown = true;
    session.footer.notify(failure.reason, 'error');
  }
  session.seekOwner();
}

/** Did a person end the wait that just failed? Then whatever else this turn would ask the owner for can wait too. */
export function giveUp(session: MemorySession, ctx: ExtensionContext): boolean {
  if (!ctx.signal?.aborted) return false;
  if (session.turn) session.turn.gaveUp = true;
  return true;
}

/** The view of the turn: settled and frozen by its first request, the same for all later ones. Undefined: memory is off. */
async function frozenView(
  session: MemorySession,
  turn: Turn,
  ctx: ExtensionContext,
): Promise<FrozenView | undefined> {
  session.ancestry.read();
  if (turn.frozen) return turn.frozen.view;
  if (!ctx.model) throw new Error('Pi has no model selected');
  const limits = limitsOf(ctx.model as PiModel);
  session.rememberModel(ctx);
  try {
    turn.frozen = await session.withOwner(ctx.signal, async owner => {
      await session.reconcile(owner, step(ctx), turn.id);
      const chain = session.ancestry.chainBefore(turn.id);
      if (chain === undefined) throw new Error("the mark of this turn is not in Pi's session any more");
      return { chain, view: await prepare(session, owner, turn.id, chain, limits, ctx.signal) };
    });
    return turn.frozen.view;
  } catch (error) {
    if (!(error instanceof LinkError && error.code === 'off')) throw error;
    // Switched off in VS Code since the prompt was sent.
    session.memory = false;
    turn.projected = false;
    return undefined;
  } finally {
    session.showState();
  }
}

async function prepare(
  session: MemorySession,
  owner: Owner,
  turn: TurnId,
  chain: Chain,
  model: ModelLimits,
  signal: AbortSignal | undefined,
): Promise<FrozenView> {
  const silence = new AbortController();
  const listen = () => setTimeout(() => silence.abort(), SILENCE_LIMIT_MS);
  let timer = listen();
  const show = ({ done, total }: Progress) => {
    clearTimeout(timer);
    timer = listen();
    if (total > 0) session.footer.show(`memory: preparing ${done} of ${total}`);
  };
  // Nothing more is said of work that was under way before.
  session.footer.show('memory: preparing …');
  try {
    return await ask(cancelled => owner.prepare({ turn, chain, model }, show, cancelled), {
      signal: signal ? AbortSignal.any([signal, silence.signal]) : silence.signal,
      what: 'the memory of this turn',
    });
  } catch (error) {
    if (silence.signal.aborted) throw new LinkError('lost', 'VS Code said nothing for five minutes.');
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** What a receipt covers must stay as it was while its turn runs. */
function checkHistory(session: MemorySession, turn: Turn): void {
  if (session.ancestry.compactedAfter(turn.id))
    throw new Error('another extension compacted the running turn');
  if (turn.frozen && session.ancestry.chainBefore(turn.id) !== turn.frozen.chain)
    throw new Error('earlier history was changed while this turn ran');
}

/** After `/reload` inside a turn: the newest marker names it, and the owner still has its receipt. */
function recoverTurn(session: MemorySession): Turn | undefined {
  if (!session.memory) return undefined;
  const id = newestRun(session.ancestry.session);
  if (id === undefined) return undefined;
  const after = entriesSince(session.ancestry.session, id) ?? [];
  // Beyond every ordinal that was used: each captured message has an entry, but for one that may be on its way.
  session.turn = turnOf(id, runHasMemory(session.ancestry.session.getEntry(id)), after.length + 1);
  return session.turn;
}

function turnOf(id: string, isProjected: boolean, ordinal: number): Turn {
  return {
    id: id as TurnId,
    projected: isProjected,
    ordinal,
    requests: 0,
    status: null,
    gaveUp: false,
    frozen: undefined,
  };
}

/** An aborted run's last message still has to be stored: it gets a short wait that the old signal doesn't end. */
function step(ctx: ExtensionContext): Patience {
  const { signal } = ctx;
  return signal?.aborted ? { ms: START_LIMIT_MS, signal: undefined } : { ms: STEP_LIMIT_MS, signal };
}

function limitsOf(model: PiModel): ModelLimits {
  return { name: `${model.provider}/${model.id}`, window: model.contextWindow, maxTokens: model.maxTokens };
}
