import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import type { Log } from '../archive/ports';
import type { SessionIdentity } from '../archive/requests';
import { burstLog } from './burstLog';
import {
  describeServer,
  isWithin,
  newRunFile,
  publish,
  realPaths,
  sweep,
  withdraw,
  type OneSession,
} from './discovery';
import { makeEndpoint } from './discoveryEndpoint';
import type { Fields } from './fields';
import {
  LinkError,
  METHODS,
  PROTOCOL_VERSION,
  type Hello,
  type HelloReply,
  type Owner,
  type PiSide,
} from './protocol';
import { piSideOf, serveOwner } from './serveOwner';
import { parseHello } from './validateRequests';
import { commonVersion, versionMismatch } from './version';
import { openWire, type Wire } from './wire';

/** Time to say hello. */
const HELLO_MS = 1000;
/** Connections that have not said hello yet. */
const MAX_STRANGERS = 8;
const MAX_CONNECTIONS = 64;

export interface LinkServerOptions {
  /** The archive root; its `run/` is where Pis look. */
  readonly root: string;
  /** Folders whose sessions are served. */
  readonly folders: readonly string[];
  /** Instead of those of folders: the one session that is served, by the Pi that owns it. */
  readonly session?: OneSession;
  /** Gives the owner for a session's connection. A `LinkError` refuses it with its message. */
  accept(identity: SessionIdentity, pi: PiSide): Promise<Owner>;
  readonly log: Log;
  /** Shown to people in Pi. */
  readonly name?: string;
}
export interface LinkServer {
  readonly runFile: string;
  /** The folders changed: sessions of the new ones can connect, present connections stay. */
  setFolders(folders: readonly string[]): Promise<void>;
  /** Closes every connection, waits until their owners are released, and removes socket and run file. */
  dispose(): Promise<void>;
}

/**
 * Listens for the Pi sessions of `folders` and publishes where. A connection has a second for one hello with the
 * token of the run file; whoever fails it is cut off without a byte in return.
 */
export async function startLinkServer(options: LinkServerOptions): Promise<LinkServer> {
  await sweep(options.root);
  const endpoint = await makeEndpoint();
  const server = new Listener(options, await realPaths(options.folders));
  await server.listen(endpoint.address);
  const { session } = options;
  const runFile = newRunFile(options.root, session ? 'pi' : 'host');
  const announce = async () => {
    const serves = session ? { session } : { folders: server.folders };
    await publish(runFile, await describeServer(endpoint.address, server.token, serves, PROTOCOL_VERSION));
  };
  const dispose = async () => {
    await withdraw(runFile);
    await server.close();
    await endpoint.remove();
  };
  try {
    await endpoint.protect();
    await announce();
  } catch (e) {
    await dispose();
    throw e;
  }
  return {
    runFile,
    setFolders: async folders => {
      server.folders = await realPaths(folders);
      await announce();
    },
    dispose,
  };
}

class Listener {
  readonly token = randomBytes(32).toString('hex');
  private readonly tokenBytes = Buffer.from(this.token, 'latin1');
  private readonly server: Server;
  private readonly open = new Set<Wire>();
  /** What must have ended before `close` resolves. */
  private readonly releases = new Set<Promise<void>>();
  private strangers = 0;
  private readonly log: Log;

  constructor(
    private readonly options: LinkServerOptions,
    public folders: readonly string[],
  ) {
    this.log = burstLog(options.log);
    this.server = createServer(socket => this.connected(socket));
  }

  listen(address: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(address, () => {
        this.server.off('error', reject);
        this.server.on('error', e => this.log.error(`Link server: ${e.message}`));
        resolve();
      });
    });
  }

  async close(): Promise<void> {
    const closed = new Promise<void>(resolve => this.server.close(() => resolve()));
    for (const wire of this.open) wire.close();
    await closed;
    await Promise.all(this.releases);
  }

  private connected(socket: Socket): void {
    if (this.strangers >= MAX_STRANGERS || this.open.size >= MAX_CONNECTIONS) {
      this.log.warn(
        this.strangers >= MAX_STRANGERS
          ? 'Link: closed a connection: too many that have not said hello.'
          : 'Link: closed a connection: too many sessions.',
      );
      socket.on('error', () => undefined);
      socket.destroy();
      return;
    }
    let hello: Hello | undefined;
    const gate = (message: Fields) => {
      hello = message['method'] === METHODS.hello ? parseHello(message['params']) : undefined;
      return hello !== undefined && message['id'] !== undefined && this.knows(hello.token);
    };
    const wire = openWire(socket, { log: this.log, gate });
    let stranger = true;
    const known = () => {
      if (stranger) this.strangers--;
      stranger = false;
    };
    this.strangers++;
    this.open.add(wire);
    const late = setTimeout(() => {
      this.log.warn('Link: closed a connection that was not let in within a second.');
      wire.close();
    }, HELLO_MS);
    void wire.closed.then(() => {
      clearTimeout(late);
      known();
      this.open.delete(wire);
    });
    wire.rpc.onRequest(METHODS.hello, async (): Promise<HelloReply> => {
      const said = hello;
      hello = undefined;
      if (said === undefined) return refused('A second hello on one connection.');
      known();
      const reply = await this.welcome(wire, said);
      // Who was refused has the rest of its second to read why.
      if (reply.ok) clearTimeout(late);
      return reply;
    });
    wire.rpc.listen();
  }

  private async welcome(wire: Wire, hello: Hello): Promise<HelloReply> {
    const mismatch = versionMismatch({ pi: hello.version, host: PROTOCOL_VERSION });
    if (mismatch !== undefined) return refused(mismatch);
    const notServed = this.notServed(hello.session);
    if (notServed !== undefined) return refused(notServed);
    let owner: Owner;
    try {
      owner = await this.options.accept(hello.session, piSideOf(wire));
    } catch (e) {
      if (e instanceof LinkError) return refused(e.message);
      this.log.error(`Link: a session was not accepted: ${String(e)}`);
      return refused('This VS Code window failed to take the session. Its log says why.');
    }
    const release = wire.closed
      .then(() => owner.release())
      .catch((e: unknown) => this.log.error(`Link: releasing a session failed: ${String(e)}`))
      .finally(() => this.releases.delete(release));
    this.releases.add(release);
    if (!wire.isClosed) serveOwner(wire, owner, this.log);
    wire.reader.admit();
    const version = commonVersion(hello.version);
    return { ok: true, version, host: { pid: process.pid, name: this.options.name ?? 'VS Code' } };
  }

  /** Why a session is not served here; undefined when it is. */
  private notServed({ sessionId, cwd }: OneSession): string | undefined {
    const { session } = this.options;
    if (session)
      return session.sessionId === sessionId && session.cwd === cwd
        ? undefined
        : 'This Pi has another session now.';
    if (this.folders.some(f => isWithin(f, cwd))) return undefined;
    return `This VS Code window does not have ${cwd} open any more.`;
  }

  /** In constant time, so that how long a refusal takes says nothing about the token. */
  private knows(token: string): boolean {
    const bytes = Buffer.from(token, 'latin1');
    return bytes.length === this.tokenBytes.length && timingSafeEqual(bytes, this.tokenBytes);
  }
}

function refused(reason: string): HelloReply {
  return { ok: false, reason };
}
