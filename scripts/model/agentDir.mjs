// A Pi agent folder whose only model is the demo model: nothing of the user's own ~/.pi is read or written.
import fs from 'node:fs';
import path from 'node:path';

/**
 * @typedef {object} AgentDirOptions
 * @property {number} [contextWindow] tokens
 * @property {number} [maxTokens] tokens
 * @property {'openai-completions' | 'anthropic-messages'} [api] the wire format
 * @property {Record<string, unknown>} [settings] added to Pi's settings.json, replacing what is there
 * @property {readonly {id: string, name?: string, contextWindow?: number, maxTokens?: number}[]} [models] more models
 *   of the same provider, for switching between them
 */

/**
 * Writes `models.json` and `settings.json` so that `PI_CODING_AGENT_DIR=dir` makes Pi use the model on `port`. All
 * prices are 0, and nothing that Pi would show or fetch at its start is left on.
 * @param {string} dir made if missing
 * @param {number} port
 * @param {AgentDirOptions} [options]
 */
export function writeAgentDir(dir, port, options = {}) {
  const {
    contextWindow = 32_000,
    maxTokens = 4096,
    api = 'openai-completions',
    settings = {},
    models = [],
  } = options;
  const anthropic = api === 'anthropic-messages';
  const baseUrl = `http://127.0.0.1:${port}/${anthropic ? 'anthropic' : 'v1'}`;
  const all = [{ id: 'demo-1', name: 'Demo model' }, ...models].map(model => ({
    name: model.id,
    contextWindow,
    maxTokens,
    ...model,
    // Signed thoughts come back only from a model that is said to reason.
    reasoning: anthropic,
    input: ['text'],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  }));
  fs.mkdirSync(dir, { recursive: true });
  // Pi wants a key for every provider. The demo model reads none.
  const provider = { baseUrl, api, apiKey: 'none-needed', models: all };
  write(path.join(dir, 'models.json'), { providers: { demo: provider } });
  write(path.join(dir, 'settings.json'), {
    defaultProvider: 'demo',
    defaultModel: 'demo-1',
    quietStartup: true,
    enableInstallTelemetry: false,
    retry: { enabled: false },
    cacheWarming: 'off',
    ...settings,
  });
}

/** @param {string} file @param {unknown} value */
const write = (file, value) => fs.writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
