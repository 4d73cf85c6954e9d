import assert from 'node:assert/strict';
import { Sandbox, viewOf } from '../support/pi';

interface Block {
  readonly type: string;
  readonly thinking?: string;
  readonly signature?: string;
}
interface Body {
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Block[] }[];
}

const blocksOf = (body: unknown) =>
  (body as Body).messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));

describe('thinking', () => {
  it('goes back signed within its turn and never reaches the archive', async () => {
    const box = await Sandbox.make({ api: 'anthropic-messages' });
    try {
      await box.host();
      const pi = box.rpc();
      await pi.prompt(
        'first ;; !think PRIVATE-ONE is what I think ;; !tool read {"path":"a.txt"} ;; !tool bash {"command":"echo x"} ;; !say said aloud',
      );
      const [, second, third] = box.turns;
      assert.ok(second && third);
      const thought = blocksOf(second.body).filter(block => block.type === 'thinking');
      assert.equal(thought.length, 1);
      assert.equal(thought[0]?.thinking, 'PRIVATE-ONE is what I think');
      assert.ok((thought[0]?.signature ?? '').length > 20);
      // Byte for byte: what was signed would be refused if it were changed.
      const signed = JSON.stringify(thought[0]);
      assert.ok(second.raw.includes(signed));
      assert.ok(third.raw.includes(signed));
      const stream = box.entries
        .map(entry => JSON.stringify(entry))
        .find(line => line.includes('thinkingSignature'));
      assert.ok(
        stream?.includes(JSON.stringify(thought[0]?.signature)),
        'the signature is the one Pi received',
      );
      await pi.prompt('second ;; !think PRIVATE-TWO ;; !say aloud again');
      await pi.prompt('third ;; !say done');
      const last = box.turns.at(-1) ?? assert.fail();
      assert.match(viewOf(last) ?? '', /said aloud[^]*aloud again/);
      // The words are in the prompts too, which are remembered: only what the model thought must be missing.
      assert.deepEqual(
        blocksOf(last.body).filter(block => block.type.includes('thinking')),
        [],
      );
      await pi.close();
      assert.doesNotMatch(box.archived, /"type":"thinking"|signature/i);
      const talk = box.archived.split('\n').filter(line => line.includes('"role":"assistant"'));
      assert.equal(talk.filter(line => line.includes('PRIVATE')).length, 0);
      assert.ok(talk.length >= 5);
    } finally {
      await box.close();
    }
  });
});
