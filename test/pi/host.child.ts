// A window's host without a window: `node host.child.cjs ARCHIVE_ROOT on|off FOLDER...`. Says "ready" when it
// serves, and ends with its standard input.
import { startHost } from '../../extension/vscode/serve';

async function main(): Promise<void> {
  const [root, memory, ...folders] = process.argv.slice(2);
  if (root === undefined || folders.length === 0)
    throw new Error('usage: host.child.cjs ROOT on|off FOLDER...');
  const say = (text: string) => void process.stderr.write(`${text}\n`);
  const host = await startHost({
    root,
    folders,
    memoryDefault: () => memory !== 'off',
    log: { info: () => undefined, warn: say, error: say },
  });
  process.stdout.write('ready\n');
  process.stdin.resume();
  process.stdin.on('end', () => void host.dispose().then(() => process.exit(0)));
}

void main();
