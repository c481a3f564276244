import type { AddressInfo } from 'node:net';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import type { SocketOptions } from '../../../../src/solana/confirmation/reconnecting-socket.js';
import {
  type SignatureNotification,
  SignatureSubscriptions,
} from '../../../../src/solana/confirmation/signature-subscriptions.js';
import { until } from '../../../helpers/until.js';

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** A WebSocket server that leaves the responses to the test. */
class Server {
  readonly requests: Request[] = [];
  readonly sockets: WebSocket[] = [];
  readonly #server: WebSocketServer;

  private constructor(server: WebSocketServer) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.sockets.push(socket);
      socket.on('message', (data) => this.requests.push(JSON.parse(data.toString()) as Request));
    });
  }

  static async start(options: ServerOptions = {}): Promise<Server> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', ...options });
    await new Promise((resolve) => server.once('listening', resolve));
    return new Server(server);
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** The requests of a method, as soon as there are this many. */
  async received(count: number, method = 'signatureSubscribe'): Promise<Request[]> {
    const matching = (): Request[] => this.requests.filter((request) => request.method === method);
    await until(() => matching().length >= count);
    return matching();
  }

  send(message: unknown): void {
    this.sockets.at(-1)?.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  notify(subscription: number | string, slot: number, value: unknown = { err: null }): void {
    this.send({ method: 'signatureNotification', params: { subscription, result: { context: { slot }, value } } });
  }

  async close(): Promise<void> {
    for (const socket of this.#server.clients) socket.terminate();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const FAST = { firstRetryMs: 1, longestRetryMs: 5 };
let server: Server;
const opened: SignatureSubscriptions[] = [];

beforeEach(async () => {
  server = await Server.start();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((subscriptions) => subscriptions.close()));
  await server.close();
});

function open(options: Partial<SocketOptions> = {}): SignatureSubscriptions {
  const subscriptions = new SignatureSubscriptions({ urls: [server.url], ...FAST, ...options });
  opened.push(subscriptions);
  return subscriptions;
}

function listen() {
  const told: SignatureNotification[] = [];
  const live: boolean[] = [];
  const listener = {
    onNotification: (notification: SignatureNotification) => void told.push(notification),
    onLive: (state: boolean) => void live.push(state),
  };
  return { told, live, listener };
}

describe('signature subscriptions', () => {
  it('connects with the first subscription, not before', async () => {
    const subscriptions = open();
    await server.received(0);
    expect(server.sockets).toHaveLength(0);
    subscriptions.subscribe('sig', 'confirmed', listen().listener);
    const [request] = await server.received(1);
    expect(request?.params).toEqual(['sig', { commitment: 'confirmed' }]);
  });

  it('tells who waits, once, with slot and error', async () => {
    const { told, live, listener } = listen();
    open().subscribe('sig', 'confirmed', listener);
    const [request] = await server.received(1);
    server.send({ id: request?.id, result: 7 });
    await until(() => live.length === 1);
    server.notify(7, 42, { err: { InstructionError: [0, 'x'] } });
    server.notify(7, 43);
    await until(() => told.length > 0);
    expect(live).toEqual([true]);
    expect(told).toEqual([{ slot: 42, err: { InstructionError: [0, 'x'] } }]);
  });

  it('takes a notification that overtook the answer to its subscription', async () => {
    const { told, listener } = listen();
    open().subscribe('sig', 'processed', listener);
    const [request] = await server.received(1);
    server.notify(7, 42);
    server.send({ id: request?.id, result: 7 });
    await until(() => told.length === 1);
  });

  it('keeps the 64 latest of those that came too early', async () => {
    const [first, second] = [listen(), listen()];
    const subscriptions = open();
    subscriptions.subscribe('first', 'confirmed', first.listener);
    subscriptions.subscribe('second', 'confirmed', second.listener);
    const requests = await server.received(2);
    for (let id = 100; id <= 164; id += 1) server.notify(id, id);
    server.send({ id: requests[0]?.id, result: 100 });
    server.send({ id: requests[1]?.id, result: 101 });
    server.notify(100, 500);
    server.notify(101, 500);
    await until(() => first.told.length + second.told.length === 2);
    expect([first.told, second.told]).toEqual([[{ slot: 500, err: null }], [{ slot: 101, err: null }]]);
  });

  it('knows its subscription by a text, where the endpoint names it so', async () => {
    const { told, live, listener } = listen();
    const subscriptions = open();
    subscriptions.subscribe('sig', 'confirmed', listener);
    const [request] = await server.received(1);
    server.send({ id: request?.id, result: 'seven' });
    server.notify('seven', 42);
    const after = listen();
    subscriptions.subscribe('after', 'confirmed', after.listener);
    const [, second] = await server.received(2);
    server.send({ id: second?.id, result: 8 });
    await until(() => after.live.length === 1);
    expect([live, told]).toEqual([[true], [{ slot: 42, err: null }]]);
  });

  it('is not live when the endpoint refuses it', async () => {
    const [refused, taken] = [listen(), listen()];
    const subscriptions = open();
    subscriptions.subscribe('refused', 'confirmed', refused.listener);
    subscriptions.subscribe('taken', 'confirmed', taken.listener);
    const [first, second] = await server.received(2);
    server.send({ id: first?.id, error: { code: -32_602 } });
    server.send({ id: second?.id, result: 7 });
    await until(() => taken.live.length === 1);
    expect(refused.live).toEqual([]);
  });

  it('asks each time by another number', async () => {
    const { live, listener } = listen();
    const subscriptions = open();
    const giveUp = subscriptions.subscribe('first', 'confirmed', listener);
    const [request] = await server.received(1);
    server.send({ id: request?.id, result: 7 });
    await until(() => live.length === 1);
    giveUp();
    subscriptions.subscribe('second', 'confirmed', listener);
    await server.received(2);
    const [first, ...others] = server.requests.map(({ id }) => id);
    expect(others).toEqual([(first ?? 0) + 1, (first ?? 0) + 2]);
  });

  it('asks the connection for a sign of life when it is told to make sure', async () => {
    let pings = 0;
    const subscriptions = open({ silenceMs: 600_000 });
    subscriptions.subscribe('sig', 'confirmed', listen().listener);
    await server.received(1);
    server.sockets[0]?.on('ping', () => {
      pings += 1;
    });
    subscriptions.check();
    subscriptions.subscribe('after', 'confirmed', listen().listener);
    await server.received(2);
    expect(pings).toBe(1);
  });

  it('shares one connection', async () => {
    const subscriptions = open();
    for (const signature of ['a', 'b', 'c']) subscriptions.subscribe(signature, 'confirmed', listen().listener);
    await server.received(3);
    subscriptions.subscribe('d', 'confirmed', listen().listener);
    await server.received(4);
    expect(server.sockets).toHaveLength(1);
  });

  it('subscribes again on a new connection when the old one is cut', async () => {
    const { told, live, listener } = listen();
    open().subscribe('sig', 'confirmed', listener);
    const [first] = await server.received(1);
    server.send({ id: first?.id, result: 7 });
    await until(() => live.length === 1);
    server.sockets[0]?.terminate();
    const [, second] = await server.received(2);
    server.send({ id: second?.id, result: 8 });
    await until(() => live.length === 3);
    expect(live).toEqual([true, false, true]);
    server.notify(8, 42);
    await until(() => told.length === 1);
  });

  it('leaves a half-open connection', async () => {
    const deaf = await Server.start({ autoPong: false });
    const { live, listener } = listen();
    open({ urls: [deaf.url], pingEveryMs: 5, silenceMs: 5 }).subscribe('sig', 'confirmed', listener);
    await deaf.received(3);
    expect(live).toEqual(live.map(() => false));
    await deaf.close();
  });

  it('stays on a quiet connection that still answers pings', async () => {
    let pings = 0;
    open({ pingEveryMs: 2, silenceMs: 5_000 }).subscribe('sig', 'confirmed', listen().listener);
    await server.received(1);
    server.sockets[0]?.on('ping', () => {
      pings += 1;
    });
    await until(() => pings > 10);
    expect(server.sockets).toHaveLength(1);
  });

  it('goes on to the next address when one fails', async () => {
    const gone = await Server.start();
    const { url } = gone;
    await gone.close();
    open({ urls: [url, server.url] }).subscribe('sig', 'confirmed', listen().listener);
    await server.received(1);
  });

  it('keeps trying while the endpoint is down', async () => {
    let refused = 0;
    const refusing = await Server.start({
      verifyClient: () => {
        refused += 1;
        return refused > 5;
      },
    });
    open({ urls: [refusing.url] }).subscribe('sig', 'confirmed', listen().listener);
    await refusing.received(1);
    await refusing.close();
  });

  it('ends a subscription at the endpoint when it is given up', async () => {
    const { live, told, listener } = listen();
    const subscriptions = open();
    const giveUp = subscriptions.subscribe('sig', 'confirmed', listener);
    const [request] = await server.received(1);
    server.send({ id: request?.id, result: 7 });
    await until(() => live.length === 1);
    giveUp();
    expect((await server.received(1, 'signatureUnsubscribe'))[0]?.params).toEqual([7]);

    const giveUpEarly = subscriptions.subscribe('other', 'confirmed', listener);
    const [, second] = await server.received(2);
    giveUpEarly();
    server.send({ id: second?.id, result: 8 });
    expect((await server.received(2, 'signatureUnsubscribe'))[1]?.params).toEqual([8]);
    expect(told).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['text', 'hello'],
    ['a list', []],
    ['an error', { id: 1, error: { code: -32601 } }],
    ['an answer to nothing', { id: 99, result: 5 }],
    ['an answer to nothing that names it', { id: 99, result: 7 }],
    ['a notification without a result', { method: 'signatureNotification', params: { subscription: 7, result: null } }],
    [
      'a notification without context',
      { method: 'signatureNotification', params: { subscription: 7, result: { value: { err: null } } } },
    ],
    ['a notification without parameters', { method: 'signatureNotification' }],
    [
      'a notification without slot',
      { method: 'signatureNotification', params: { subscription: 7, result: { context: {}, value: { err: null } } } },
    ],
    [
      'word that a node has it',
      {
        method: 'signatureNotification',
        params: { subscription: 7, result: { context: { slot: 1 }, value: 'receivedSignature' } },
      },
    ],
  ])('is not confused by %s', async (_name, message) => {
    const { told, live, listener } = listen();
    const subscriptions = open();
    subscriptions.subscribe('first', 'confirmed', listen().listener);
    subscriptions.subscribe('sig', 'confirmed', listener);
    const [, request] = await server.received(2);
    server.send({ id: request?.id, result: 7 });
    server.send(message);
    server.notify(7, 42);
    const after = listen();
    subscriptions.subscribe('after', 'confirmed', after.listener);
    const [, , third] = await server.received(3);
    server.send({ id: third?.id, result: 8 });
    await until(() => after.live.length === 1);
    expect(told).toEqual([{ slot: 42, err: null }]);
    expect(live).toEqual([true]);
  });

  it('is closed for good, also while it connects', async () => {
    const subscriptions = open();
    subscriptions.subscribe('sig', 'confirmed', listen().listener);
    await subscriptions.close();
    subscriptions.subscribe('sig', 'confirmed', listen().listener);
    const other = open();
    other.subscribe('control', 'confirmed', listen().listener);
    await server.received(1);
    expect(server.requests.map(({ params }) => params[0])).toEqual(['control']);
  });

  it.each(['', 'http://host', 'host:8900'])('refuses the address "%s" at once', (url) => {
    expect(() => new SignatureSubscriptions({ urls: [url] })).toThrow(expect.objectContaining({ code: 'bad_option' }));
  });
});
