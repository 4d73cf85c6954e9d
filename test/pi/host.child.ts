// A window's host without a window: `node host.child.cjs ARCHIVE_ROOT FOLDER on|off`. Says "ready" when it serves,
// and ends with its standard input.
import { startHost } from '../../extension/vscode/serve';

async function main(): Promise<void> {
  const [root, folder, memory] = process.argv.slice(2);
  if (root === undefined || folder === undefined) throw new Error('usage: host.child.cjs ROOT FOLDER on|off');
  const say = (text: string) => void process.stderr.write(`${text}\n`);
  const host = await startHost({
    root,
    folders: [folder],
    memoryDefault: () => memory !== 'off',
    log: { info: () => undefined, warn: say, error: say },
  });
  process.stdout.write('ready\n');
  process.stdin.resume();
  process.stdin.on('end', () => void host.dispose().then(() => process.exit(0)));
}

void main();
