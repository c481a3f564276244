import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A way to a server that goes bad below HTTP and WebSocket: nothing is ever closed by it, unless told. */
export interface TcpRelay {
  /** The same address as the target's, on the relay's port. */
  readonly url: string;
  /** Connections are accepted, and nothing comes of them. Default false. */
  swallows: boolean;
  /** Connections are cut as soon as they are made. Default false. */
  refuses: boolean;
  /** What the server answers is lost, and its connection with it: what it was told it has done. Default false. */
  losesAnswers: boolean;
  /** How much later what is sent arrives, in milliseconds. Default 0. */
  latencyMs: number;
  /** Connections accepted so far. */
  connections(): number;
  /** The connections that are open fall silent without a word, in both directions; new ones are good. */
  freeze(): void;
  /** New connections are to another server from now on; those that are open stay. */
  leadTo(url: string): void;
  /** Cuts the connections that are open. */
  cut(): void;
  close(): Promise<void>;
}

/** Opens a relay before a server on this machine. */
export async function openTcpRelay(target: string): Promise<TcpRelay> {
  let { hostname, port } = new URL(target);
  const open = new Set<{ readonly sockets: readonly Socket[]; isSilent: boolean }>();
  let connections = 0;

  const server = createServer((near) => {
    connections += 1;
    if (relay.refuses) return void near.destroy();
    const far = connect(Number(port), hostname);
    const way = { sockets: [near, far], isSilent: relay.swallows };
    open.add(way);
    const passOn = (from: Socket, to: Socket): void => {
      // What fails here is seen by whoever is at the other end.
      from.on('error', () => undefined);
      from.on('data', async (bytes) => {
        if (relay.latencyMs > 0) await pause(relay.latencyMs);
        if (!way.isSilent && !to.destroyed) to.write(bytes);
      });
      from.on('close', () => {
        if (!way.isSilent) to.destroy();
      });
    };
    far.on('data', () => {
      if (relay.losesAnswers) for (const socket of way.sockets) socket.destroy();
    });
    passOn(near, far);
    passOn(far, near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = new URL(target);
  address.port = String((server.address() as AddressInfo).port);

  const cut = (): void => {
    for (const { sockets } of open) for (const socket of sockets) socket.destroy();
    open.clear();
  };
  const relay: TcpRelay = {
    url: address.href,
    swallows: false,
    refuses: false,
    losesAnswers: false,
    latencyMs: 0,
    connections: () => connections,
    freeze() {
      for (const way of open) way.isSilent = true;
    },
    leadTo(url) {
      ({ hostname, port } = new URL(url));
    },
    cut,
    async close() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
  return relay;
}
