import assert from 'node:assert/strict';
import fc from 'fast-check';
import { codePointCut, oneLine, utf8Bytes } from '../../../extension/archive/text';
import { wellFormed } from '../../../extension/archive/json';

const anyText = fc.string({ unit: 'binary', maxLength: 60 });
const spacedText = fc.string({
  unit: fc.constantFrom('a', 'é', '\n', '\t', ' ', '\u00a0', '\ufeff', '\u2028', '\u0085', '\u200b'),
  maxLength: 40,
});

describe('text', () => {
  it('fits on one line whatever it was', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, spacedText), text => {
        const line = oneLine(text);
        assert.equal(line, line.trim());
        assert.doesNotMatch(line, /[\n\r\u2028\u2029]/);
        assert.doesNotMatch(line, /\s\s/);
        assert.equal(line.replaceAll(' ', ''), text.replace(/\s/g, ''), 'nothing but white space is touched');
        assert.equal(oneLine(line), line);
      }),
    );
  });

  it('is cut at the longest prefix of whole code points that fits', () => {
    fc.assert(
      fc.property(anyText.map(wellFormed), fc.integer({ min: -2, max: 250 }), (text, max) => {
        const head = codePointCut(text, max);
        assert.ok(text.startsWith(head));
        assert.ok(utf8Bytes(head) <= Math.max(0, max));
        assert.equal(wellFormed(head), head, 'no pair is torn apart');
        const next = text.codePointAt(head.length);
        if (next !== undefined && max >= 0) {
          assert.ok(utf8Bytes(head + String.fromCodePoint(next)) > max, 'one more code point would not fit');
        }
      }),
    );
  });

  it('keeps its bytes when it has no lone surrogate, and has none afterwards', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 30 }), units => {
        const text = String.fromCharCode(...units);
        const sound = wellFormed(text);
        assert.deepEqual(Buffer.from(sound, 'utf8'), Buffer.from(text, 'utf8'));
        assert.equal(Buffer.from(sound, 'utf8').toString('utf8'), sound);
        assert.equal((JSON.parse(JSON.stringify({ sound })) as { sound: string }).sound, sound);
      }),
    );
    assert.equal(wellFormed('a\ud800b\udc00\ud83e\udde0'), 'a\ufffdb\ufffd\ud83e\udde0');
  });
});
