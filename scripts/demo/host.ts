// Puts Strata into the demo's Pi and serves the demo's folder without a window, so that a conversation can be
// remembered before VS Code is open. Says "ready" when it serves, and ends with its standard input.
import { startHost } from '../../extension/vscode/serve';
import { installPiExtension } from '../../extension/storage/piInstall';

/** Handed over as one JSON argument. */
interface HostWish {
  readonly agentDir: string;
  readonly root: string;
  readonly folder: string;
  readonly memory: boolean;
  readonly version: string;
  readonly distDir: string;
}
const wish = JSON.parse(process.argv[2] ?? '') as HostWish;

const say = (text: string) => void process.stderr.write(`${text}\n`);
const installed = await installPiExtension(wish);
if (installed.state === 'foreign') throw new Error(installed.reason);
const host = await startHost({
  root: wish.root,
  folders: [wish.folder],
  memoryDefault: () => wish.memory,
  log: { info: () => undefined, warn: say, error: say },
});
process.stdout.write('ready\n');
process.stdin.resume();
process.stdin.on('end', () => void host.dispose().then(() => process.exit(0)));
