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
  const places = await Promise.all([
    ensureNode(),
    ensurePi(process.env.PI_VERSION),
    ...CODE_SERVER_VERSIONS.map(async version => (await ensureCodeServer(version)).entry),
    ensureChromium(),
    ensureTmux(),
  ]);
  for (const place of places) console.log(place);
} catch (error) {
  die(error);
}
