import { writeSync } from 'node:fs';
import { capture, own, png, said, withImage } from './archives';
import { OP_KINDS } from './opKinds';
import { pausingDisk, type Point } from './pausingDisk';

/**
 * `stop ROOT KIND POINT`: writes up to that point of the commit that holds that kind of op, says `reached`, and waits
 * to be killed. `run ROOT FROM`: appends for ever from that number on, a few at once and some with an image, and names
 * each message when it is sent (`s N`) and when it is acknowledged (`a N`), in one write a line.
 */
async function main(): Promise<void> {
  const [, , mode, root = '', first = '', second = ''] = process.argv;
  // A runner that takes this for a test must not write anywhere.
  if (mode !== 'stop' && mode !== 'run') return;
  // Keeps the process alive while a stopped disk is waited for.
  setInterval(() => undefined, 60_000);
  if (mode === 'stop') return stop(root, first, second as Point);
  const { archive } = await own(root);
  for (let n = Number(first); ; n += 8)
    await Promise.all(
      Array.from({ length: 8 }, async (_, i) => {
        const at = n + i;
        const text = `${at} ${'x'.repeat(at % 900)}`;
        writeSync(1, `s ${at}\n`);
        await archive.append({
          capture: capture(at),
          message: at % 50 === 7 ? withImage(text, png(at)) : said(text),
        });
        writeSync(1, `a ${at}\n`);
      }),
    );
}

async function stop(root: string, kind: string, point: Point): Promise<void> {
  const op = OP_KINDS.find(({ name }) => name === kind);
  if (!op) throw new Error(`no kind of op is called ${kind}`);
  let armed = false;
  const disk = pausingDisk(
    point,
    bytes => armed && bytes.includes(`{"op":"${kind}"`),
    () => writeSync(1, 'reached\n'),
  );
  const { archive } = await own(root, disk);
  await op.before(archive);
  armed = true;
  await op.step(archive);
  writeSync(1, 'acknowledged\n');
}

void main();
