// Sets up everything that `npm start` and `npm test` use, and prints where it is. Both do this by themselves.
import {
  CODE_SERVER_VERSIONS,
  die,
  ensureChromium,
  ensureCodeServer,
  ensureModules,
  ensureNode,
  ensurePi,
  ensureTmux,
} from './tools.mjs';

try {
  await ensureModules();
  console.log('node        ', await ensureNode());
  console.log('pi          ', await ensurePi(process.env.PI_VERSION));
  for (const version of CODE_SERVER_VERSIONS)
    console.log('code-server ', (await ensureCodeServer(version)).entry);
  console.log('chromium    ', await ensureChromium());
  console.log('tmux        ', await ensureTmux());
} catch (error) {
  die(error);
}
