import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { ReconnectingSocket, type SocketOptions } from '../../../../src/solana/confirmation/reconnecting-socket.js';
import { until } from '../../../helpers/until.js';

const NEVER = 600_000;
/** Milliseconds: the longest pause of the tests of pauses. Node has longer timers of its own, by version. */
const LONGEST_MS = 8;
const opened: ReconnectingSocket[] = [];
let server: WebSocketServer;
let url: string;
let accepted: { readonly socket: WebSocket; readonly request: IncomingMessage }[];

beforeEach(async () => {
  accepted = [];
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server.on('connection', (socket, request) => accepted.push({ socket, request }));
  await new Promise((resolve) => server.once('listening', resolve));
  url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(opened.splice(0).map((socket) => socket.close()));
  for (const { socket } of accepted) socket.terminate();
  await new Promise((resolve) => server.close(resolve));
});

function open(options: Partial<SocketOptions> = {}) {
  const seen: string[] = [];
  const events = {
    onOpen: () => void seen.push('open'),
    onText: (text: string) => void seen.push(text.slice(0, 10)),
    onDown: () => void seen.push('down'),
  };
  const socket = new ReconnectingSocket({ urls: [url], pingEveryMs: NEVER, firstRetryMs: NEVER, ...options }, events);
  opened.push(socket);
  return { socket, seen };
}

/** A connection that both sides know of. */
async function connected(options: Partial<SocketOptions> = {}) {
  const client = open(options);
  client.socket.connect();
  await until(() => client.seen.length === 1 && accepted.length === 1);
  const [peer] = accepted;
  if (peer === undefined) throw new Error('nobody has come');
  return { ...client, peer };
}

describe('a socket', () => {
  it('sends only while it is connected, and says so', async () => {
    const { socket, seen } = open();
    expect(socket.send('before')).toBe(false);
    socket.connect();
    expect(socket.send('while it connects')).toBe(false);
    await until(() => seen.length === 1 && accepted.length === 1);
    const heard: string[] = [];
    accepted[0]?.socket.on('message', (data) => heard.push(data.toString()));
    expect(socket.send('after')).toBe(true);
    await until(() => heard.length === 1);
    await socket.close();
    expect(socket.send('in the end')).toBe(false);
    expect(heard).toEqual(['after']);
  });

  it('hears texts, and no bytes', async () => {
    const { seen, peer } = await connected();
    peer.socket.send(Buffer.from('bytes'));
    peer.socket.send('text');
    await until(() => seen.includes('text'));
    expect(seen).toEqual(['open', 'text']);
  });

  it('asks for no compression', async () => {
    const { peer } = await connected();
    expect(peer.request.headers['sec-websocket-extensions']).toBeUndefined();
  });

  it('takes a message of 1 MiB, and leaves for a longer one', async () => {
    const { seen, peer } = await connected();
    peer.socket.send('a'.repeat(1_048_576));
    peer.socket.send('b'.repeat(1_048_577));
    await until(() => seen.length >= 3);
    expect(seen).toEqual(['open', 'a'.repeat(10), 'down']);
  });

  it('does not come back before its pause is over, even when it is told to connect', async () => {
    const { socket, seen, peer } = await connected();
    peer.socket.terminate();
    await until(() => seen.includes('down'));
    socket.connect();
    const control = open();
    control.socket.connect();
    await until(() => control.seen.includes('open') && accepted.length >= 2);
    expect(seen).toEqual(['open', 'down']);
    expect(accepted).toHaveLength(2);
  });

  it('asks for a sign of life only while it is connected, and one at a time', async () => {
    const { socket, seen } = open({ silenceMs: NEVER });
    socket.check();
    socket.connect();
    socket.check();
    await until(() => seen.length === 1 && accepted.length === 1);
    let pings = 0;
    const heard: string[] = [];
    accepted[0]?.socket.on('ping', () => {
      pings += 1;
    });
    accepted[0]?.socket.on('message', (data) => heard.push(data.toString()));
    socket.check();
    socket.check();
    socket.send('after the pings');
    await until(() => heard.length === 1);
    expect(pings).toBe(1);
  });

  it.each([
    [1, [1.5, 3, 6, 8, 8]],
    [0, [0.75, 1.5, 3, 4, 4]],
    [0.5, [1.125, 2.25, 4.5, 6, 6]],
  ])(
    'pauses twice as long with each failure, up to the longest; by chance (%p) down to half',
    async (random, pauses) => {
      const delays: unknown[] = [];
      const real = setTimeout;
      const { socket } = open({
        urls: ['ws://127.0.0.1:1/'],
        firstRetryMs: 1.5,
        longestRetryMs: LONGEST_MS,
        random: () => random,
      });
      jest.spyOn(globalThis, 'setTimeout').mockImplementation((run, milliseconds) => {
        if (Number(milliseconds) > LONGEST_MS) return real(run, milliseconds);
        delays.push(milliseconds);
        return real(run, 0);
      });
      socket.connect();
      for (let turn = 0; delays.length < pauses.length && turn < 20_000; turn += 1) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      jest.restoreAllMocks();
      expect(delays.slice(0, pauses.length)).toEqual(pauses);
    },
  );

  it('takes addresses of both kinds', () => {
    expect(() => open({ urls: ['ws://127.0.0.1:1', 'wss://api.devnet.solana.com'] })).not.toThrow();
  });

  it.each(['', 'http://host', 'host:8900'])('says what is wrong with the address "%s"', (wrong) => {
    expect(() => open({ urls: [url, wrong] })).toThrow(
      expect.objectContaining({
        code: 'bad_option',
        context: { param: 'wsUrl' },
        message: 'Solana WebSocket: an endpoint must be an address such as "wss://api.devnet.solana.com"',
      }),
    );
  });
});
