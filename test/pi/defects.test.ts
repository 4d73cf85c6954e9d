import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { mark } from '../support/conversation';
import { Sandbox, viewOf } from '../support/pi';

/** Functions of Strata's program, by how they begin in it, and what a turn becomes when they throw. */
const BROKEN: readonly (readonly [begins: RegExp, turn: 'stopped' | 'served'])[] = [
  [/\n {2}constructor\(pi, functions,.*\{\n/, 'stopped'],
  [/\nfunction branchMemory\(.*\{\n/, 'stopped'],
  [/\n {2}showState\(\) \{\n/, 'stopped'],
  [/\nasync function beginTurn\(.*\{\n/, 'stopped'],
  [/\nasync function finishMessage\(.*\{\n/, 'stopped'],
  [/\nasync function projectRequest\(.*\{\n/, 'stopped'],
  [/\nasync function frozenView\(.*\{\n/, 'stopped'],
  [/\nfunction liveTurn\(.*\{\n/, 'stopped'],
  [/\nfunction anchorIn\(.*\{\n/, 'stopped'],
  [/\nasync function bindStep\(.*\{\n/, 'served'],
  [/\nasync function settleTurn\(.*\{\n/, 'served'],
];

describe('a defect of Strata inside Pi', () => {
  let box: Sandbox;
  let whole: string;
  let turns = 0;
  before(async () => {
    box = await Sandbox.make();
    await box.host();
    whole = readFileSync(box.bundle, 'utf8');
    const { code } = await box.print(`first ${mark(++turns)} ;; !say kept`);
    assert.equal(code, 0);
  });
  after(async () => {
    await box.close();
  });

  for (const [begins, turn] of BROKEN) {
    const name = /(\w+)\\\(/.exec(begins.source)?.[1] ?? '';
    it(`in ${name} never lets the raw history out: the turn is ${turn}`, async () => {
      const found = begins.exec(whole)?.[0];
      assert.ok(found !== undefined, 'the program has no such function');
      const broken = `${found}throw new Error("a defect in it");\n`;
      writeFileSync(
        box.bundle,
        whole.replace(found, () => broken),
      );
      const before = box.turns.length;
      const prompt = `next ${mark(++turns)} ;; !tool read {"path":"a.txt"} ;; !say done ${turns}`;
      const { code, stdout, stderr } = await box.print('-c', prompt);
      const sent = box.turns.slice(before);
      for (const request of sent) assert.equal(request.historyBytes, 0, 'raw history left');
      if (turn === 'served') {
        assert.equal(code, 0, stderr);
        assert.match(stdout, new RegExp(`done ${turns}`));
        assert.match(viewOf(sent.at(-1) ?? assert.fail()) ?? '', /kept/);
      } else {
        assert.equal(sent.length, 0);
        assert.equal(code, 1, `${stdout} ${stderr}`);
        assert.match(stderr, /a defect in it/i);
      }
    });
  }

  it('leaves nothing behind: the whole program goes on with all that was said', async () => {
    writeFileSync(box.bundle, whole);
    const { code, stderr } = await box.print('-c', `last ${mark(++turns)} ;; !say whole again`);
    assert.equal(code, 0, stderr);
    const view = viewOf(box.turns.at(-1) ?? assert.fail()) ?? '';
    assert.equal(view.match(/\|user: (first|next) /g)?.length, turns - 1);
    assert.equal(box.turns.at(-1)?.historyBytes, 0);
  });

  for (const [name, make] of [
    ['cut short inside a word', (text: string) => text.slice(0, text.length / 2)],
    ['empty', () => ''],
    ['of another program', () => 'exports.default = 7;'],
  ] as const)
    it(`whose file is ${name}: a session with a memory is refused, another works on`, async () => {
      writeFileSync(box.bundle, make(whole));
      const before = box.turns.length;
      const refused = await box.print('-c', 'more ;; !say never');
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /nothing was sent.*could not be loaded.*Install Pi Extension/s);
      assert.equal(box.turns.length, before);
      const fresh = await box.print('--no-session', 'fresh ;; !say without');
      assert.equal(fresh.code, 0, fresh.stderr);
      assert.match(fresh.stdout, /without/);
      assert.match(fresh.stderr, /This session runs without memory/);
    });
});
