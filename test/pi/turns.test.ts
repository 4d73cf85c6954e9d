import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { readArchive } from '../../extension/cli/readArchive';
import { ROOT } from '../../scripts/tools.mjs';
import { longConversation, mark } from '../support/conversation';
import { Sandbox, outline, sha256, viewOf, type Received } from '../support/pi';
import type { PiEvent, PiRpc } from '../support/piRpc';

const run = promisify(execFile);

/** The bytes of the message that carries the view, as they stood in the request. */
function viewBytes(request: Received): string {
  const { messages } = request.body as { messages: { role: string; content: unknown }[] };
  return JSON.stringify(messages.find(message => message.role === 'user'));
}

describe('a turn of the real Pi with a long memory', () => {
  let box: Sandbox;
  let pi: PiRpc;
  let turn = 4;

  before(async function () {
    this.timeout(120_000);
    box = await Sandbox.make({
      contextWindow: 32_000,
      settings: {
        retry: { enabled: true, maxRetries: 3, baseDelayMs: 50 },
        // So that there always is something Pi would compact.
        compaction: { keepRecentTokens: 10 },
      },
    });
    await box.host();
    pi = box.rpc();
    await longConversation(box, pi);
  });
  after(async () => {
    await pi.close();
    await box.close();
  });

  /** What every turn must be: one view, whole live turn, no raw history; the view rebuilt from disk is what was sent. */
  async function checkTurn(
    events: readonly PiEvent[],
    requests: readonly Received[],
    live: readonly (readonly string[])[],
  ): Promise<void> {
    assert.deepEqual(
      events.filter(event => event.type === 'extension_error'),
      [],
    );
    assert.deepEqual(
      requests.map(request => outline(request)),
      live.map(messages => ['system', 'view', ...messages]),
    );
    const [first] = requests;
    assert.ok(first);
    for (const request of requests) {
      assert.equal(viewBytes(request), viewBytes(first));
      assert.equal(request.historyBytes, 0);
    }
    const view = viewOf(first);
    assert.ok(view !== undefined);
    assert.ok(view.split('\n').length - 2 >= 40, `the view has ${view.split('\n').length - 2} lines`);
    assert.ok(Buffer.byteLength(view) <= 32_000);
    const [dir] = box.archives;
    assert.ok(dir);
    const { stdout } = await run(process.execPath, [
      path.join(ROOT, 'dist/cli.mjs'),
      'view',
      dir,
      String(turn),
    ]);
    assert.equal(sha256(stdout), sha256(view));
  }

  /** Runs one turn whose requests are told apart from earlier ones. */
  async function during(act: () => Promise<PiEvent[]>): Promise<[readonly PiEvent[], readonly Received[]]> {
    turn++;
    const from = box.turns.length;
    const events = await act();
    return [events, box.turns.slice(from)];
  }

  it('sends an ordinary prompt after the view, and nothing else', async () => {
    const prompt = `ordinary ${mark(5)} ;; !say fine`;
    const [events, requests] = await during(() => pi.prompt(prompt));
    await checkTurn(events, requests, [[`user ${prompt}`]]);
  });

  it('sends the same view on each step of a tool loop', async () => {
    const prompt = `loop ${mark(6)} ;; !tool read {"path":"a.txt"} ;; !tool bash {"command":"echo one"} ;; !say fine`;
    const [events, requests] = await during(() => pi.prompt(prompt));
    const steps = [
      `user ${prompt}`,
      'assistant read{"path":"a.txt"}',
      'tool content of a.txt\n',
      'assistant bash{"command":"echo one"}',
      'tool one\n',
    ];
    await checkTurn(events, requests, [steps.slice(0, 1), steps.slice(0, 3), steps]);
  });

  it('keeps parallel calls and their results together', async () => {
    const calls = '[["read",{"path":"a.txt"}],["bash",{"command":"echo two"}],["read",{"path":"a.txt"}]]';
    const prompt = `parallel ${mark(7)} ;; !tools ${calls} ;; !say fine`;
    const [events, requests] = await during(() => pi.prompt(prompt));
    await checkTurn(events, requests, [
      [`user ${prompt}`],
      [
        `user ${prompt}`,
        'assistant read{"path":"a.txt"} bash{"command":"echo two"} read{"path":"a.txt"}',
        'tool content of a.txt\n',
        'tool two\n',
        'tool content of a.txt\n',
      ],
    ]);
  });

  it('keeps its view when the person steers', async () => {
    const prompt = `steered ${mark(8)} ;; !tool bash {"command":"sleep 0.7; echo slow"} ;; !say fine`;
    const steering = `rather this ${mark(8)} ;; !say steered`;
    const [events, requests] = await during(async () => {
      const from = pi.events.length;
      await pi.start(prompt);
      await pi.until('a tool', event => event.type === 'tool_execution_start', 10_000, from);
      await pi.send('steer', { message: steering });
      await pi.until('the end', event => event.type === 'agent_settled', 20_000, from);
      return pi.events.slice(from);
    });
    await checkTurn(events, requests, [
      [`user ${prompt}`],
      [
        `user ${prompt}`,
        'assistant bash{"command":"sleep 0.7; echo slow"}',
        'tool slow\n',
        `user ${steering}`,
      ],
    ]);
  });

  it('keeps its view for a follow-up', async () => {
    const prompt = `followed ${mark(9)} ;; !tool bash {"command":"sleep 0.7; echo slow"} ;; !say first answer`;
    const next = `and then ${mark(9)} ;; !say second answer`;
    const [events, requests] = await during(async () => {
      const from = pi.events.length;
      await pi.start(prompt);
      await pi.until('a tool', event => event.type === 'tool_execution_start', 10_000, from);
      await pi.send('follow_up', { message: next });
      await pi.until('the end', event => event.type === 'agent_settled', 20_000, from);
      return pi.events.slice(from);
    });
    const steps = [
      `user ${prompt}`,
      'assistant bash{"command":"sleep 0.7; echo slow"}',
      'tool slow\n',
      'assistant first answer',
      `user ${next}`,
    ];
    await checkTurn(events, requests, [steps.slice(0, 1), steps.slice(0, 3), steps]);
  });

  it('sends the very same request when Pi retries by itself, and remembers no failed attempt', async () => {
    const prompt = `retried ${mark(10)} ;; !fail 2 503 ;; !say at last`;
    const [events, requests] = await during(() => pi.prompt(prompt));
    await checkTurn(events, requests, [[`user ${prompt}`], [`user ${prompt}`], [`user ${prompt}`]]);
    assert.deepEqual(
      requests.map(request => request.status),
      [503, 503, 200],
    );
    const after = `after the retry ${mark(11)} ;; !say fine`;
    const [events2, requests2] = await during(() => pi.prompt(after));
    await checkTurn(events2, requests2, [[`user ${after}`]]);
    const view = viewOf(requests2[0] as Received) ?? '';
    assert.match(view, /at last/);
    assert.doesNotMatch(view, /\[error\]/);
  });

  it('has lines of every method in its view, and merged ones', async () => {
    const [dir] = box.archives;
    assert.ok(dir);
    const { state } = await readArchive(dir);
    const request = box.turns.at(-1);
    assert.ok(request);
    const branch = state.branch(state.newest);
    assert.ok(branch);
    const lines = (viewOf(request) ?? '').split('\n').slice(1, -1);
    const methods = new Map<string, number>();
    let merged = 0;
    for (const line of lines) {
      const [, start, count] = /^(\d+)\+(\d+)\|/.exec(line) ?? [];
      const method = branch.line({ start: Number(start), count: Number(count) })?.method;
      assert.ok(method, line);
      methods.set(method, (methods.get(method) ?? 0) + 1);
      if (Number(count) > 1) merged++;
    }
    assert.deepEqual([...methods.keys()].sort(), ['concat', 'model', 'verbatim']);
    assert.ok(merged > 0);
    assert.ok(branch.records > 240);
  });

  it('tells the owner what left and how it was answered', async () => {
    const [dir] = box.archives;
    assert.ok(dir);
    const { state } = await readArchive(dir);
    const turns = state.turns.map(({ sent }) => [sent?.requests, sent?.status]);
    assert.deepEqual(turns.slice(4, 10), [
      [1, 200],
      [3, 200],
      [2, 200],
      [2, 200],
      [3, 200],
      [3, 200],
    ]);
    // Every message has its place on the branch, and none was stored twice.
    const entries = box.entries.filter(({ type, message }) => {
      const role = (message as { role?: string } | undefined)?.role;
      return type === 'message' && role !== 'system';
    });
    const failed = entries.filter(
      ({ message }) => (message as { stopReason?: string }).stopReason === 'error',
    );
    assert.equal(failed.length, 2);
    const sources = [...(state.branch(state.newest)?.sources() ?? [])];
    assert.equal(sources.length, entries.length - failed.length);
    const stored = box.archived.match(/"op":"message"/g) ?? [];
    assert.equal(stored.length, sources.length);
  });

  it('keeps a long original complete, for the model to read in its memory', async () => {
    const request = box.turns.find(
      ({ historyBytes, conversation }) => historyBytes === 0 && conversation.said.length > 3,
    );
    assert.ok(request);
    const { state } = await readArchive(box.archives[0] as string);
    const branch = state.branch(state.newest);
    assert.ok(branch);
    const long = Array.from({ length: branch.records }, (_, i) => i).find(
      i => branch.record(i).bytes > 1_500,
    );
    assert.ok(long !== undefined);
    const prompt = `look it up ${mark(12)} ;; !tool strata_memory {"action":"zoom","start":${long},"count":1} ;; !say fine`;
    const [, requests] = await during(() => pi.prompt(prompt));
    const answer = requests.at(-1)?.conversation.said.findLast(message => message.role === 'tool');
    assert.equal((JSON.parse(answer?.text ?? '{}') as { text: string }).text, await branch.raw(long));
  });

  it('lets the model search its memory, date a record, and tells it what is wrong with a request', async () => {
    const calls: [string, object][] = [
      ['strata_memory', { action: 'search', query: 'PROMPT 2' }],
      ['strata_memory', { action: 'date', start: 0 }],
      ['strata_memory', { action: 'status' }],
      ['strata_memory', { action: 'zoom', start: 3, count: 2 }],
      ['strata_memory', { action: 'zoom' }],
    ];
    const prompt = `ask it ${mark(13)} ;; !tools ${JSON.stringify(calls)} ;; !say fine`;
    const [, requests] = await during(() => pi.prompt(prompt));
    const answers = requests.at(-1)?.conversation.said.filter(message => message.role === 'tool') ?? [];
    const [search, date, status, invalid, incomplete] = answers.map(({ text }) => text);
    const { matches } = JSON.parse(search ?? '{}') as { matches: { address: string; snippet: string }[] };
    assert.match(matches[0]?.snippet ?? '', /^user: prompt 2/);
    assert.ok(!Number.isNaN(Date.parse((JSON.parse(date ?? '{}') as { timestamp: string }).timestamp)));
    assert.ok((JSON.parse(status ?? '{}') as { records: number }).records > 240);
    assert.match(invalid ?? '', /3\+2 is no address/);
    assert.match(incomplete ?? '', /zoom needs "start" and "count"/);
  });

  it('is never compacted by Pi, neither when a person asks for it nor when the window fills up', async () => {
    const answer = await pi.send('compact');
    assert.equal(answer['success'], false);
    const notice = pi.events.findLast(
      event => event.type === 'extension_ui_request' && event['method'] === 'notify',
    );
    assert.match(String(notice?.['message']), /Nothing to compact/);
    const full = `full ${mark(14)} ;; !usage 30000 10 ;; !say nearly full`;
    await during(() => pi.prompt(full));
    const prompt = `after it ${mark(15)} ;; !say fine`;
    const from = pi.events.length;
    const [events, requests] = await during(() => pi.prompt(prompt));
    // Pi tried.
    assert.ok(pi.events.slice(from - 5).some(event => event.type === 'compaction_start'));
    await checkTurn(events, requests, [[`user ${prompt}`]]);
    assert.equal(box.entries.filter(({ type }) => type === 'compaction').length, 0);
  });

  it('ends with advice when the turn is larger than the model takes, and the next one is served', async () => {
    const [events, requests] = await during(() => pi.prompt(`too much ${mark(16)} ;; !overflow 0`));
    assert.equal(requests.length, 1);
    const notices = events
      .filter(event => event['method'] === 'notify')
      .map(event => String(event['message']));
    assert.match(notices.join(), /larger than the model takes\. Send a new prompt/);
    const prompt = `after that ${mark(17)} ;; !say fine`;
    const [events2, requests2] = await during(() => pi.prompt(prompt));
    await checkTurn(events2, requests2, [[`user ${prompt}`]]);
    assert.equal(box.entries.filter(({ type }) => type === 'compaction').length, 0);
  });
});
