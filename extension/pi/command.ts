import { ask } from '../link/ask';
import type { Owner } from '../link/protocol';
import { START_LIMIT_MS, reasonOf } from './ownership';
import type { MemorySession } from './session';
import type { ExtensionAPI } from './piTypes';

const NO_OWNER = 'Who kept this memory went away. The next prompt finds another, or Pi keeps it itself.';
const VERBS = ['status', 'on', 'off'] as const;

/** `/strata status|on|off`: one command for a person without VS Code's commands at hand. */
export function registerCommand(pi: ExtensionAPI, session: () => MemorySession | undefined): void {
  pi.registerCommand('strata', {
    description: 'Memory of this session: status, on or off',
    getArgumentCompletions: prefix =>
      VERBS.filter(verb => verb.startsWith(prefix.trim())).map(verb => ({ value: verb, label: verb })),
    handler: async (text, ctx) => {
      const now = session();
      if (!now) return;
      const verb = text.trim() || 'status';
      try {
        switch (verb) {
          case 'status':
            now.footer.notify(await statusText(now), 'info');
            return;
          case 'on':
          case 'off':
            // A window may have come or gone since the last turn; within one its owner stays.
            if (ctx.isIdle()) await now.settle();
            await now.setMode(verb === 'on');
            now.footer.notify(switched(now, ctx.isIdle()), 'info');
            return;
          default:
            now.footer.notify(
              `There is no "/strata ${verb}". Type /strata status, /strata on or /strata off.`,
              'warning',
            );
        }
      } catch (error) {
        now.footer.notify(`/strata ${verb} did not work. ${reasonOf(error)}`, 'error');
      }
    },
  });
}

function switched(session: MemorySession, idle: boolean): string {
  const when = idle ? 'From the next prompt on' : 'After this turn';
  if (!session.memory)
    return `Memory is off. ${when} Pi sends its own history, and its own compaction is in charge.`;
  if (session.owner) return `Memory is on. ${when} the past is sent as memory.`;
  return `Memory is on, but not available yet. ${session.absence ?? NO_OWNER}`;
}

async function statusText(session: MemorySession): Promise<string> {
  const lines = [`Memory is ${session.memory ? 'on' : 'off'}.`];
  if (session.failure) lines.push(session.failure.reason);
  const { owner } = session;
  if (!owner) lines.push(session.absence ?? NO_OWNER);
  else lines.push(...(await archiveLines(owner)));
  return lines.join('\n');
}

async function archiveLines(owner: Owner): Promise<string[]> {
  try {
    const status = await ask(cancelled => owner.status(cancelled), { ms: START_LIMIT_MS, what: 'memory' });
    return Object.entries(status).map(
      ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
    );
  } catch (error) {
    // Why it cannot tell is what a person needs to know.
    return [`The archive does not answer. ${reasonOf(error)}`];
  }
}
