// Strata's loader for Pi (installed by Strata for VS Code; delete this file to remove it)
//
// Small on purpose. Pi compiles ESM at each start, so the program itself is one CommonJS file, loaded from an absolute
// path; only this file can see Pi's own modules, so it hands their functions over. Installing replaces the two names
// in quotes below.
const BUNDLE = '__STRATA_BUNDLE__';
const VERSION = '__STRATA_VERSION__';
/** The types of our entries in Pi's session file: a turn, and what a person said with `/strata on|off`. */
const RUN_MARKER = 'strata.run';
const MODE_MARKER = 'strata.mode';

/** @param {import('@earendil-works/pi-coding-agent').ExtensionAPI} pi */
export default async function strata(pi) {
  try {
    const { createRequire } = await import('node:module');
    const ai = await import('@earendil-works/pi-ai');
    const agent = await import('@earendil-works/pi-coding-agent');
    createRequire(BUNDLE)(BUNDLE).default(pi, {
      getCurrentSystemMessage: ai.getCurrentSystemMessage,
      estimateTokens: agent.estimateTokens,
      convertToLlm: agent.convertToLlm,
      sessionEntryToContextMessages: agent.sessionEntryToContextMessages,
      version: agent.VERSION,
    });
  } catch (error) {
    withoutMemory(pi, error);
  }
}

/**
 * The program did not load. A session that has memory must not silently send its raw history, so its prompts are
 * refused; any other, and one whose memory was switched off, goes on as if Strata were not there, and says so once.
 *
 * @param {import('@earendil-works/pi-coding-agent').ExtensionAPI} pi
 * @param {unknown} error
 */
function withoutMemory(pi, error) {
  const why =
    `Strata ${VERSION} could not be loaded (${error instanceof Error ? error.message.split('\n')[0] : String(error)}). ` +
    'In VS Code run "Strata: Install Pi Extension", then restart Pi.';
  /** @param {import('@earendil-works/pi-coding-agent').ExtensionContext} ctx @param {string} text @param {'warning' | 'error'} kind */
  const tell = (ctx, text, kind) => {
    if (ctx.mode === 'print' || ctx.mode === 'json') process.stderr.write(`${text}\n`);
    else ctx.ui.notify(text, kind);
  };
  /** @param {import('@earendil-works/pi-coding-agent').ExtensionContext} ctx */
  const remembered = ctx => {
    try {
      // From the root to the leaf: the newest counts.
      for (const entry of ctx.sessionManager.getBranch().reverse()) {
        if (entry.type !== 'custom') continue;
        const data = /** @type {Record<string, unknown>} */ (Object(entry.data));
        if (entry.customType === RUN_MARKER) return data['memory'] !== false;
        if (entry.customType === MODE_MARKER) return data['on'] !== false;
      }
      return false;
    } catch {
      return true;
    }
  };
  const refusal = `This session has a memory that cannot be read now, so nothing was sent. ${why}`;
  let told = false;
  pi.on('session_start', (_event, ctx) => {
    if (told || remembered(ctx)) return;
    told = true;
    tell(ctx, `This session runs without memory. ${why}`, 'warning');
  });
  pi.on('input', (_event, ctx) => {
    if (!remembered(ctx)) return { action: 'continue' };
    tell(ctx, refusal, 'error');
    // Print mode would end with success, having done nothing.
    if (ctx.mode === 'print' || ctx.mode === 'json') process.exitCode = 1;
    return { action: 'handled' };
  });
  // Runs that no prompt started: another extension's message.
  pi.on('context_with_system', (_event, ctx) => {
    if (!remembered(ctx)) return undefined;
    ctx.abort();
    return { messages: [{ role: 'system', content: refusal, timestamp: Date.now() }] };
  });
}
