import { connectOwner, type ConnectOptions, type OwnerLink } from '../../../extension/link/client';
import { LinkError, type LinkErrorCode, type Owner, type PiSide } from '../../../extension/link/protocol';
import { startLinkServer, type LinkServer } from '../../../extension/link/server';
import { aLog, identity, pi, useScratch } from './pieces';

export const never = () => new Promise<never>(() => undefined);
export const is =
  (code: LinkErrorCode, text = /./) =>
  (e: unknown) =>
    e instanceof LinkError && e.code === code && text.test(e.message);

/** Servers of a scratch folder and Pis connected to them, closed after each test. */
export function useLink() {
  const scratch = useScratch();
  const log = aLog();
  const servers: LinkServer[] = [];
  const links: OwnerLink[] = [];
  afterEach(async () => {
    for (const link of links.splice(0)) link.dispose();
    await Promise.all(servers.splice(0).map(s => s.dispose()));
  });
  async function serve(accept: (piSide: PiSide) => Owner, folders = [scratch()]): Promise<LinkServer> {
    const server = await startLinkServer({
      root: scratch(),
      folders,
      accept: async (_, piSide) => accept(piSide),
      log,
    });
    servers.push(server);
    return server;
  }
  async function join(parts: Partial<ConnectOptions> = {}): Promise<OwnerLink> {
    const link = await connectOwner({
      root: scratch(),
      session: identity(scratch()),
      pi,
      timeoutMs: 3000,
      ...parts,
    });
    links.push(link);
    return link;
  }
  return { scratch, log, serve, join };
}
