import path from 'node:path';
import { registerCommand } from './command';
import { cancelCompaction } from './compaction';
import { GUIDANCE, GUIDANCE_SECTION } from './guidance';
import { claimInstance } from './instance';
import { reasonOf } from './ownership';
import type { ExtensionAPI, ExtensionContext, PiFunctions } from './piTypes';
import { RequestTooLarge } from './requestGuard';
import { MemorySession } from './session';
import { blockedTool, memoryFailed, stoppedMessages, stoppedReply, type Failure } from './stop';
import { MEMORY_TOOL, registerMemoryTool } from './tool';
import { beginTurn, bindStep, finishMessage, giveUp, markRequest, projectRequest, settleTurn } from './turn';

/** For scripts and other runs that want no memory. */
const OFF_FLAG = 'strata-off';

/** Installed as `<archive root>/pi/<version>/index.cjs`. */
const ARCHIVE_ROOT = path.resolve(__dirname, '..', '..');

/**
 * What Pi calls, at its start and again at `/new`, `/resume`, `/fork` and `/reload`. It only registers: sockets and
 * timers start with the session, since this runs for `pi --list-models` too. No handler lets an error out: one that
 * gets past Pi ends it, and one that Pi catches lets the request go out as if we had said nothing.
 */
export default function strata(pi: ExtensionAPI, functions: PiFunctions): void {
  const instance = claimInstance();
  if (!instance) {
    let told = false;
    pi.on('session_start', (_event, ctx) => {
      if (told) return;
      told = true;
      ctx.ui.notify(
        'Strata is installed twice for this Pi. This copy stays out of the way; remove one of them.',
        'warning',
      );
    });
    return;
  }
  let session: MemorySession | undefined;
  /** Why there is no session although memory is wanted: a defect, or a Pi we don't know. */
  let unopened: Failure | undefined;
  let ended = false;
  let toolIsOurs = false;
  let warned = false;
  pi.registerFlag(OFF_FLAG, {
    type: 'boolean',
    default: false,
    description: 'Run without the memory of Strata',
  });
  registerCommand(pi, () => session);

  /** The session's memory; undefined when it was switched off for this Pi, or the session is over. */
  const open = (ctx: ExtensionContext): MemorySession | undefined => {
    if (session || ended || pi.getFlag(OFF_FLAG) === true) return session;
    session = new MemorySession(pi, functions, ARCHIVE_ROOT, ctx);
    toolIsOurs = registerMemoryTool(pi, () => session);
    if (!toolIsOurs)
      session.footer.notify(
        `Another extension has a tool named ${MEMORY_TOOL}, so the model cannot look things up in its memory. Remove that extension to change this.`,
        'warning',
      );
    return session;
  };

  /** Tells the model how to use its memory, if it can. */
  const guide = (now: MemorySession, sections: Record<string, string>) => {
    if (!toolIsOurs) return;
    if (pi.getActiveTools().includes(MEMORY_TOOL)) sections[GUIDANCE_SECTION] = GUIDANCE;
    else if (!warned) {
      warned = true;
      now.footer.notify(
        `The tool ${MEMORY_TOOL} is switched off, so the model cannot open the lines of its memory. Switch it on to change this.`,
        'warning',
      );
    }
  };

  pi.on('session_start', async (_event, ctx) => {
    try {
      await open(ctx)?.start();
    } catch (error) {
      ctx.ui.notify(`Strata could not start. ${reasonOf(error)}`, 'error');
    }
  });

  pi.on('session_shutdown', async () => {
    const over = session;
    session = undefined;
    ended = true;
    try {
      await over?.dispose();
    } catch {
      // It ends with this process, and the operating system frees its lock.
    } finally {
      instance.release();
    }
  });

  pi.on('before_agent_start', async (event, ctx) => {
    try {
      const now = open(ctx);
      if (!now) return;
      await beginTurn(now, ctx);
      if (now.turn?.projected) guide(now, event.systemPromptOptions.sections);
    } catch (error) {
      // A throw would refuse nothing; the first request is stopped.
      if (session) session.failure ??= { reason: memoryFailed(reasonOf(error)), shown: false };
    }
  });

  pi.on('message_end', async (event, ctx) => {
    try {
      const now = open(ctx);
      if (!now) return undefined;
      if (now.failure) {
        const message = stoppedReply(event.message, now.failure);
        return message && { message };
      }
      await finishMessage(now, event.message, ctx);
    } catch (error) {
      session?.fail(memoryFailed(reasonOf(error)), ctx);
      const message = !session && unopened && stoppedReply(event.message, unopened);
      if (message) return { message };
    }
    return undefined;
  });

  pi.on('context_with_system', async (event, ctx) => {
    let reason: string;
    try {
      const now = open(ctx);
      if (!now && !ended) return undefined;
      if (now && !now.failure) {
        const messages = await projectRequest(now, event.messages, ctx);
        return messages && { messages };
      }
      reason = now?.failure?.reason ?? 'The run was stopped.';
    } catch (error) {
      reason = refusal(session, error, ctx);
      if (!session) unopened = { reason, shown: false };
    }
    return { messages: stopRequest(reason, ctx) };
  });

  pi.on('tool_call', () => (session?.failure ? blockedTool(session.failure) : undefined));

  pi.on('before_provider_request', (event, ctx) => {
    if (!session?.turn || session.failure || ctx.signal?.aborted) return undefined;
    session.turn.requests++;
    try {
      return markRequest(session, session.turn, event.payload, ctx);
    } catch {
      // A mark only saves money.
      return undefined;
    }
  });

  pi.on('after_provider_response', event => {
    if (session?.turn) session.turn.status = event.status;
  });

  pi.on('turn_end', async (_event, ctx) => {
    if (session) await bindStep(session, ctx);
  });

  pi.on('agent_settled', async () => {
    if (session) await settleTurn(session);
  });

  pi.on('model_select', (_event, ctx) => session?.rememberModel(ctx));

  /** Is the past sent as memory? A switch during a turn counts from the next one on. */
  const inCharge = () => session?.turn?.projected ?? session?.memory ?? false;

  pi.on('session_before_compact', event =>
    session && inCharge() ? cancelCompaction(event.reason, session.footer) : undefined,
  );

  pi.on('cache_warming_decision', () => (inCharge() ? { action: 'stop' } : undefined));
}

/** Why a request is refused that memory failed at. Never throws: Pi sends the raw history when this handler does. */
function refusal(session: MemorySession | undefined, error: unknown, ctx: ExtensionContext): string {
  const reason = error instanceof RequestTooLarge ? error.message : memoryFailed(reasonOf(error));
  try {
    // After a person's own Esc Pi ends the run itself.
    if (session && !giveUp(session, ctx)) session.fail(reason, ctx);
  } catch {
    if (session) session.failure ??= { reason, shown: false };
  }
  return session?.failure?.reason ?? reason;
}

/** Nothing leaves: the run is aborted (again, if it was before), and the request holds none of the conversation. */
function stopRequest(reason: string, ctx: ExtensionContext) {
  try {
    ctx.abort();
  } catch {
    // The session is over: what goes out, if anything does, is the stopped request.
  }
  return stoppedMessages(reason);
}
