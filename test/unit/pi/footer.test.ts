import assert from 'node:assert/strict';
import { Footer } from '../../../extension/pi/footer';
import type { ExtensionContext } from '../../../extension/pi/piTypes';

const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

describe('the line in Pi’s footer', () => {
  let drawn: (string | undefined)[];
  let footer: Footer;
  beforeEach(() => {
    drawn = [];
    const ui = { setStatus: (_key: string, text: string | undefined) => void drawn.push(text) };
    footer = new Footer(ui as unknown as ExtensionContext['ui'], 'tui');
    footer.show('on');
  });

  it('says nothing of a wait that nobody notices', async () => {
    assert.equal(
      await footer.during(
        'waiting',
        sleep(50).then(() => 7),
      ),
      7,
    );
    await sleep(700);
    assert.deepEqual(drawn, ['on']);
  });

  it('says what is awaited as long as the wait lasts, then the newest state', async () => {
    const work = footer.during('waiting', sleep(900));
    await sleep(700);
    footer.show('changed');
    assert.deepEqual(drawn, ['on', 'waiting']);
    await work;
    assert.deepEqual(drawn, ['on', 'waiting', 'changed']);
  });

  it('shows no wait that is over, however two of them overlap', async () => {
    const first = footer.during('one', sleep(900));
    await sleep(200);
    const second = footer.during('two', sleep(1_200));
    await first;
    assert.deepEqual(drawn, ['on', 'one', 'two']);
    await second;
    assert.deepEqual(drawn, ['on', 'one', 'two', 'on']);
  });

  it('ends with the failure of what was awaited', async () => {
    const failing = footer.during(
      'waiting',
      sleep(700).then(() => Promise.reject(new Error('gone'))),
    );
    await assert.rejects(failing, /gone/);
    assert.deepEqual(drawn, ['on', 'waiting', 'on']);
  });
});
