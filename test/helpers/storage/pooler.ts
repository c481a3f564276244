import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A pooler before a PostgreSQL server, in transaction mode: a session is a client's from its first statement to the end of its transaction. */
export interface Pooler {
  readonly url: string;
  close(): Promise<void>;
}

interface Session {
  readonly socket: Socket;
  client: Client | undefined;
}

interface Client {
  readonly socket: Socket;
  session: Session | undefined;
  /** What came while no session was free. */
  waiting: Buffer[];
}

const READY = 0x5a;
const READY_LENGTH = 6;
const END = 0x58;
const IDLE = 0x49;

/** @param refused - a parameter of the start of a connection that it does not know. Default: it takes all */
export async function openPooler(target: string, refused?: string): Promise<Pooler> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const idle: Session[] = [];
  const queue: Client[] = [];

  function send(client: Client, bytes: Buffer): void {
    client.session ??= idle.pop();
    if (client.session === undefined) {
      client.waiting.push(bytes);
      if (!queue.includes(client)) queue.push(client);
      return;
    }
    client.session.client = client;
    client.session.socket.write(bytes);
  }

  function release(session: Session): void {
    if (session.client !== undefined) session.client.session = undefined;
    session.client = undefined;
    idle.push(session);
    const next = queue.shift();
    if (next !== undefined) send(next, Buffer.concat(next.waiting.splice(0)));
  }

  /** The client logs in at a session of its own, and gives that away like any other. */
  function logIn(client: Client): void {
    const session: Session = { socket: connect(Number(port), hostname), client };
    client.session = session;
    watch(session.socket, (bytes) => {
      session.client?.socket.write(bytes);
      const end = bytes.subarray(-READY_LENGTH);
      if (end[0] === READY && end.at(-1) === IDLE) release(session);
    });
  }

  function watch(socket: Socket, onData: (bytes: Buffer) => void): void {
    sockets.add(socket);
    socket.on('error', () => undefined).on('data', onData);
  }

  const server = createServer((socket) => {
    const client: Client = { socket, session: undefined, waiting: [] };
    let isNew = true;
    watch(socket, (bytes) => {
      if (isNew && refused !== undefined && bytes.includes(`${refused}\0`)) return void socket.end(refusal(refused));
      if (isNew) logIn(client);
      isNew = false;
      if (bytes[0] === END) socket.end();
      else send(client, bytes);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The error as pgbouncer writes it. */
function refusal(parameter: string): Buffer {
  const fields = `SFATAL\0C08P01\0Munsupported startup parameter: ${parameter}\0\0`;
  const head = Buffer.from('E....');
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, Buffer.from(fields)]);
}
