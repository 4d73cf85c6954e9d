import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ROOT_CHAIN, type TurnId } from '../../../extension/archive/ids';
import * as replies from '../../../extension/link/validateReplies';
import * as requests from '../../../extension/link/validateRequests';
import { anOwner, APPEND, ENTRY, identity, PREPARE, SUMMARY } from './pieces';

type Parse = (value: unknown) => unknown;

const summary = {
  system: 's',
  blocks: ['a', 'b'],
  retries: [{ reply: 'r', feedback: 'f' }],
  maxOutputTokens: 1,
  timeoutMs: 2,
};

/** A valid value for each validator; each of its fields is then spoiled in turn. */
const GOOD: readonly (readonly [string, Parse, object])[] = [
  ['hello', requests.parseHello, { token: 'a'.repeat(64), version: 1, session: identity('/w') }],
  ['identity', requests.parseIdentity, { ...identity('/w'), parentSession: 'p' }],
  ['append', requests.parseAppend, { ...APPEND, capture: { ...APPEND.capture, toolCallId: 'c' } }],
  ['bind', requests.parseBind, { after: ROOT_CHAIN, sources: [{ entry: ENTRY, capture: APPEND.capture }] }],
  ['prepare', requests.parsePrepare, PREPARE],
  ['settled', requests.parseSettled, { turn: 't', requests: 1, status: 200 }],
  ['zoom', requests.parseZoom, { start: 1, count: 2, offset: 3, chain: ROOT_CHAIN }],
  ['date', requests.parseDate, { start: 1, chain: ROOT_CHAIN }],
  ['search', requests.parseSearch, { query: '', from: 0, chain: ROOT_CHAIN }],
  ['mode', requests.parseMode, { on: false }],
  ['summary request', requests.parseSummaryRequest, summary],
  ['hello reply', replies.parseHelloReply, { ok: true, version: 1, host: { pid: 1, name: 'n' } }],
  ['refusal', replies.parseHelloReply, { ok: false, reason: 'r' }],
  ['open reply', replies.parseOpenReply, { archive: 'a', memory: true, chain: ROOT_CHAIN, records: 0 }],
  ['bind reply', replies.parseBindReply, { ok: true, chain: ROOT_CHAIN, records: 1 }],
  ['unknown capture', replies.parseBindReply, { ok: false, reason: 'unknown-capture', entry: ENTRY }],
  ['progress', replies.parseProgress, { turn: 't' as TurnId, done: 1, total: 2 }],
  ['summary reply', replies.parseSummaryReply, SUMMARY],
];

const OPTIONAL = new Set(['sessionFile', 'parentSession', 'toolCallId', 'chain', 'capture', 'message']);

describe('Values from the link', function () {
  this.timeout(30_000);
  for (const [name, parse, good] of GOOD) {
    it(`pass as a ${name} only whole`, () => {
      assert.deepEqual(parse(good), good);
      assert.deepEqual(parse({ ...good, more: 1, constructor: 2 }), good);
      assert.deepEqual(parse(JSON.parse(JSON.stringify(good))), good);
      for (const field of Object.keys(good)) {
        const without = Object.fromEntries(Object.entries(good).filter(([k]) => k !== field));
        const parsed = parse(without);
        if (parsed !== undefined) {
          assert.ok(OPTIONAL.has(field), `${field} may not be left out`);
          assert.deepEqual(parsed, without);
        }
        for (const bad of [{}, [], 'x\0y', -1, 1.5, NaN, true, [[]], 'y'.repeat(20 * 1024 * 1024)]) {
          const spoiled = { ...good, [field]: bad };
          const result = parse(spoiled);
          if (result === undefined) continue;
          // Only the same kind of value may stand in its place.
          assert.equal(typeof bad, typeof Reflect.get(good, field), field);
        }
      }
    });
    it(`are never a surprise to the validator of a ${name}`, () => {
      fc.assert(
        fc.property(
          fc.oneof(
            fc.anything(),
            fc.json().map(j => JSON.parse(j) as unknown),
          ),
          value => {
            parse(value);
          },
        ),
        { numRuns: 200 },
      );
    });
  }

  it('pass as a frozen view only when its bytes are those of its blocks', async () => {
    const view = await anOwner().prepare(PREPARE, () => undefined, new AbortController().signal);
    assert.deepEqual(replies.parseFrozenView(view), view);
    for (const spoiled of [
      { bytes: 3 },
      { blocks: ['é'] },
      { blocks: 'é\nb' },
      { sha256: 'F'.repeat(64) },
      { records: -1 },
    ])
      assert.equal(replies.parseFrozenView({ ...view, ...spoiled }), undefined);
  });

  it('keep no thinking and no unknown role in a message', () => {
    const content = [
      { type: 'thinking', thinking: 'secret' },
      { type: 'text', text: 'said' },
    ];
    const message = { role: 'assistant', content, stopReason: 'stop', timestamp: 1, usage: { input: 1 } };
    assert.ok(!JSON.stringify(requests.parseAppend({ ...APPEND, message })).includes('secret'));
    assert.equal(requests.parseAppend({ ...APPEND, message: { ...message, role: 'system' } }), undefined);
  });

  it('name files only by absolute paths, and nothing with a NUL in it', () => {
    for (const spoiled of [
      { cwd: 'relative' },
      { cwd: '/a\0b' },
      { cwd: '' },
      { sessionFile: '../x' },
      { sessionId: '' },
      { sessionId: 'a\0b' },
      { cwd: `/${'x'.repeat(5000)}` },
    ])
      assert.equal(requests.parseIdentity({ ...identity('/w'), ...spoiled }), undefined);
  });
});
