import assert from 'node:assert/strict';
import { readArchive } from '../../extension/cli/readArchive';
import { mark } from '../support/conversation';
import { Sandbox, outline, viewOf } from '../support/pi';

describe('a session that was made without Strata', () => {
  it('is remembered from its first line on, and the model is told of its memory', async () => {
    const box = await Sandbox.make({ installed: false });
    try {
      await box.print(`made before ${mark(1)} ;; !tool read {"path":"a.txt"} ;; !say old answer`);
      await box.print('-c', `also before ${mark(2)} ;; !say second old answer`);
      assert.equal(box.archives.length, 0);
      await box.install();
      await box.host();
      const pi = box.rpc('-c');
      await pi.prompt(`adopted ${mark(3)} ;; !say new answer`);
      const second = `second turn ${mark(4)} ;; !say newer answer`;
      await pi.prompt(second);
      for (const request of box.turns.slice(-2)) {
        assert.equal(request.historyBytes, 0);
        assert.ok(request.conversation.tools.includes('strata_memory'));
        assert.match(request.conversation.said[0]?.text ?? '', /<memory>[^]*START\+COUNT[^]*<\/memory>/);
        assert.match(
          viewOf(request) ?? '',
          /^<chat>\n0\+1\|user: made before[^]*echo: read: content of a\.txt[^]*second old answer/,
        );
      }
      assert.deepEqual(outline(box.turns.at(-1) ?? assert.fail()), ['system', 'view', `user ${second}`]);
      await pi.close();
      const { state } = await readArchive(box.archives[0] ?? assert.fail());
      assert.equal(state.branch(state.newest)?.records, 10);
    } finally {
      await box.close();
    }
  });
});

describe('one session in several runs of Pi', () => {
  it('is remembered across print mode and the terminal, and its tools stay declared', async () => {
    const box = await Sandbox.make();
    try {
      await box.host();
      const first = await box.print('from print mode ;; !say printed');
      assert.equal(first.code, 0);
      assert.match(first.stdout, /printed/);
      const screen = await box.tui('-c');
      await screen.until(/memory: on, 2 records/);
      await screen.type('from the terminal ;; !say typed');
      await screen.press('Enter');
      await screen.until(/typed.*memory: on, 4 records/);
      await screen.close();
      const third = await box.print('-c', 'again ;; !say third');
      assert.equal(third.stderr, '');
      const request = box.turns.at(-1) ?? assert.fail();
      assert.equal(box.turns.length, 3);
      assert.ok(request.conversation.tools.includes('strata_memory'));
      assert.match(viewOf(request) ?? '', /printed[^]*from the terminal ;; !say typed/);
      assert.equal(box.archives.length, 1);
    } finally {
      await box.close();
    }
  });
});
