// A deterministic model on 127.0.0.1 that speaks to the real Pi: no account, no network, no cost. What it answers
// depends on the request alone (but for `!fail`, which counts). README.md beside this file lists what it obeys.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import { anthropicEvents } from './anthropic.mjs';
import { fromAnthropic, fromOpenAi, newestTurn, stepOf } from './conversation.mjs';
import { demoReply } from './demo.mjs';
import { performed, scriptOf } from './directives.mjs';
import { rawHistoryBytes } from './history.mjs';
import { openAiEvents } from './openai.mjs';
import { digest, jobOf, said, summaryReply } from './summaries.mjs';

export { writeAgentDir } from './agentDir.mjs';

/** @typedef {import('./conversation.mjs').Conversation} Conversation */
/** @typedef {import('./directives.mjs').Reply} Reply */

/**
 * One request as it arrived.
 * @typedef {object} Received
 * @property {number} n from 1
 * @property {'openai' | 'anthropic'} api
 * @property {boolean} compactor a summary job of memory, not a request of the conversation
 * @property {string} raw the body, byte for byte
 * @property {unknown} body the body, parsed
 * @property {Conversation} conversation what it says, whichever the format
 * @property {http.IncomingHttpHeaders} headers
 * @property {number} historyBytes bytes of earlier turns outside the view; 0 for summary jobs
 * @property {number | null} status what was answered; null as long as nothing was
 * @property {boolean} aborted the other side went away before the answer was complete
 */
/**
 * @typedef {object} Model
 * @property {number} port
 * @property {Received[]} requests in order of arrival; may be emptied (`requests.length = 0`)
 * @property {() => Promise<void>} close ends the server and every connection
 */

const MAX_BODY = 64 * 1024 * 1024;

/**
 * @param {object} [options]
 * @param {number} [options.port] 0 picks a free one
 * @param {string} [options.log] a file that gets one JSON line a request
 * @param {(job: import('./summaries.mjs').Job) => Reply | string | undefined} [options.summarize] answers summary jobs
 *   in place of the built-in extracts; `undefined` leaves that job to them
 * @returns {Promise<Model>}
 */
export async function startModel({ port = 0, log, summarize } = {}) {
  /** @type {Received[]} */
  const requests = [];
  /** How often a step of a prompt was refused by `!fail`. @type {Map<string, number>} */
  const failures = new Map();

  /** @param {Conversation} conversation @returns {Reply} */
  const replyTo = conversation => {
    const job = jobOf(conversation);
    if (job) {
      const own = summarize?.(job);
      return own === undefined ? summaryReply(job) : typeof own === 'string' ? said(own) : own;
    }
    const script = scriptOf(conversation);
    if (script) {
      const { prompt, after } = newestTurn(conversation.said);
      const key = `${stepOf(after)} ${prompt}`;
      const before = failures.get(key) ?? 0;
      const reply = performed(script, conversation, before);
      if (reply.kind === 'error') failures.set(key, before + 1);
      return reply;
    }
    // No tools and no ruler: Pi's own summary of a branch or of a compaction.
    if (conversation.tools.length === 0) return said(digest(newestTurn(conversation.said).prompt));
    return demoReply(conversation);
  };

  /** @param {http.IncomingMessage} request @param {http.ServerResponse} response @param {'openai' | 'anthropic'} api */
  const answer = async (request, response, api) => {
    const raw = await bodyOf(request);
    const body = /** @type {unknown} */ (JSON.parse(raw));
    const conversation = api === 'openai' ? fromOpenAi(body) : fromAnthropic(body);
    const compactor = jobOf(conversation) !== undefined;
    /** @type {Received} */
    const entry = {
      n: requests.length + 1,
      api,
      compactor,
      raw,
      body,
      conversation,
      headers: request.headers,
      historyBytes: compactor ? 0 : rawHistoryBytes(conversation),
      status: null,
      aborted: false,
    };
    requests.push(entry);
    response.on('close', () => {
      if (!response.writableFinished) entry.aborted = true;
    });
    if (log !== undefined) {
      fs.appendFileSync(log, `${JSON.stringify({ ...entry, raw: undefined, conversation: undefined })}\n`);
    }
    const reply = replyTo(conversation);
    if (reply.kind === 'hang') return;
    entry.status = reply.kind === 'error' ? reply.status : 200;
    if (reply.kind === 'error') {
      const type = reply.status === 400 ? 'invalid_request_error' : 'api_error';
      sendJson(response, reply.status, { type: 'error', error: { type, message: reply.message } });
      return;
    }
    const written = reply.text + reply.thinking + reply.calls.map(call => call.args).join('');
    const tokens = reply.usage ?? {
      input: Math.ceil(Buffer.byteLength(raw) / 4),
      output: Math.ceil(Buffer.byteLength(written) / 4),
    };
    const id = createHash('sha256').update(raw).digest('hex').slice(0, 12);
    const context = { id, model: conversation.model, tokens };
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    if (api === 'openai') {
      for (const data of openAiEvents(reply, context)) {
        if (entry.aborted) return;
        if (reply.slowMs > 0) await pause(reply.slowMs);
        response.write(`data: ${data}\n\n`);
      }
    } else {
      for (const data of anthropicEvents(reply, context)) {
        if (entry.aborted) return;
        if (reply.slowMs > 0) await pause(reply.slowMs);
        response.write(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);
      }
    }
    response.end();
  };

  const server = http.createServer((request, response) => {
    const route = `${request.method} ${request.url?.replace(/\?.*/, '')}`;
    const handle = async () => {
      switch (route) {
        case 'POST /v1/chat/completions':
          return answer(request, response, 'openai');
        case 'POST /anthropic/v1/messages':
          return answer(request, response, 'anthropic');
        case 'GET /v1/models':
          return sendJson(response, 200, { object: 'list', data: [{ id: 'demo-1', object: 'model' }] });
        case 'GET /requests':
          return sendJson(response, 200, requests);
        case 'DELETE /requests':
          requests.length = 0;
          return sendJson(response, 200, []);
        default:
          return sendJson(response, 404, { error: { message: `The demo model has nothing at ${route}.` } });
      }
    };
    handle().catch((/** @type {unknown} */ error) => {
      if (response.headersSent) response.destroy();
      else sendJson(response, 400, { error: { type: 'invalid_request_error', message: String(error) } });
    });
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(undefined));
  });
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new Error('The demo model got no port on 127.0.0.1.');
  return {
    port: address.port,
    requests,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** @param {http.IncomingMessage} request @returns {Promise<string>} */
async function bodyOf(request) {
  /** @type {Buffer[]} */
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    const buffer = /** @type {Buffer} */ (chunk);
    bytes += buffer.length;
    if (bytes > MAX_BODY) throw new Error(`A request is larger than ${MAX_BODY} bytes.`);
    chunks.push(buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** @param {http.ServerResponse} response @param {number} status @param {unknown} value */
function sendJson(response, status, value) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

/** @param {number} ms */
const pause = ms => new Promise(resolve => setTimeout(resolve, ms));
