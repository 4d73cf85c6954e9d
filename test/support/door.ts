import assert from 'node:assert/strict';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Counts who comes in. Passes everybody on to the Unix socket `to`; without one it answers nothing. */
export class Door {
  readonly #sockets = new Set<Socket>();
  /** Connections since it opened. */
  accepted = 0;

  private constructor(private readonly server: Server) {}

  /** Opens at a path, or at a free port of 127.0.0.1. */
  static async open(at: string | undefined, to?: string): Promise<Door> {
    const server = createServer();
    const door = new Door(server);
    server.on('connection', socket => door.#enter(socket, to));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).once('listening', resolve);
      if (at === undefined) server.listen(0, '127.0.0.1');
      else server.listen(at);
    });
    return door;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Proves that it counts: knocks once, which must raise `accepted` by one. */
  async assertCounts(): Promise<void> {
    const before = this.accepted;
    const counted = new Promise(resolve => this.server.once('connection', resolve));
    const address = this.server.address();
    assert.ok(address !== null, 'the door is closed');
    const knock = typeof address === 'string' ? connect(address) : connect(address.port, '127.0.0.1');
    await counted;
    knock.destroy();
    assert.equal(this.accepted, before + 1);
  }

  async close(): Promise<void> {
    const closed = new Promise(resolve => this.server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #enter(socket: Socket, to: string | undefined): void {
    this.accepted++;
    this.#keep(socket);
    if (to === undefined) return;
    const inner = this.#keep(connect(to));
    socket.pipe(inner).pipe(socket);
    socket.once('close', () => inner.destroy());
    inner.once('close', () => socket.destroy());
  }

  #keep(socket: Socket): Socket {
    this.#sockets.add(socket);
    return socket.on('error', () => socket.destroy()).once('close', () => this.#sockets.delete(socket));
  }
}
