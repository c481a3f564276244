import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { ContestantParts } from '../contestant.js';

interface Settings {
  readonly url: string;
  /** Address that it comes from. */
  readonly from: string;
  /** Requests a second. */
  readonly perSecond: number;
  readonly connections: number;
  /** Header fields of payments that are good for nothing. */
  readonly payments: readonly Readonly<Record<string, string>>[];
}

const TICK_MS = 5;
/** Half of the connections are given up after this time, and others opened. */
const PATIENCE_MS = 100;
/** What the kernel does not take any more waits here, as far as that; more is not offered on the same connection. */
const MAX_WAITING_BYTES = 64 * 1024;

/**
 * Sends requests at a fixed rate whatever becomes of them, over connections that are opened again at once when they are closed;
 * half of them are kept as long as may be, the others are given up after a moment. Of responses only the beginning is looked at.
 */
export async function start(settings: Settings): Promise<ContestantParts> {
  const { hostname, port } = new URL(settings.url);
  const requests = mixture(settings).map((text) => Buffer.from(text));
  const counts = { offered: 0, sent: 0, answered: 0, refused: 0, connections: 0, closed: 0 };
  const open = new Set<Socket>();
  const impatient = new Set<Socket>();
  let timer: NodeJS.Timeout | undefined;
  let next = 0;

  function dial(): void {
    const socket = connect({ host: hostname, port: Number(port), localAddress: settings.from, noDelay: true });
    counts.connections += 1;
    open.add(socket);
    const isImpatient = impatient.size < settings.connections / 2;
    const impatience = isImpatient ? setTimeout(() => socket.destroy(), PATIENCE_MS) : undefined;
    if (isImpatient) impatient.add(socket);
    socket.on('data', (chunk) => {
      counts.answered += 1;
      if (chunk.includes('HTTP/1.1 429')) counts.refused += 1;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(impatience);
      open.delete(socket);
      impatient.delete(socket);
      counts.closed += 1;
    });
  }

  function tick(due: number): void {
    while (open.size < settings.connections) dial();
    const sockets = [...open];
    for (let at = 0; at < due; at += 1) {
      next += 1;
      counts.offered += 1;
      const socket = sockets[next % sockets.length];
      const request = requests[next % requests.length];
      if (socket === undefined || request === undefined || socket.writableLength > MAX_WAITING_BYTES) continue;
      counts.sent += 1;
      socket.write(request);
    }
  }

  return {
    url: '',
    asks: {
      start() {
        let last = performance.now();
        let owed = 0;
        timer = setInterval(() => {
          const now = performance.now();
          owed += ((now - last) / 1_000) * settings.perSecond;
          last = now;
          const due = Math.floor(owed);
          owed -= due;
          tick(due);
        }, TICK_MS);
      },
      stop() {
        clearInterval(timer);
        for (const socket of open) socket.destroy();
        return counts;
      },
    },
  };
}

/** Requests that nobody has paid for, payments that are none, paths that are nowhere, bodies that are nothing. */
function mixture({ payments }: Settings): readonly string[] {
  const get = (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const lines = Object.entries({ Host: 'server', ...headers }).map(([name, value]) => `${name}: ${value}`);
    return `GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
  };
  const post = (path: string, body: string) =>
    `POST ${path} HTTP/1.1\r\nHost: server\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const garbage = Array.from({ length: 20 }, () =>
    get(`/${randomBytes(12).toString('base64url')}?${randomBytes(9).toString('hex')}`),
  );
  return [
    ...payments.flatMap((headers) => [get('/demo'), get('/demo', headers), get('/health'), get('/v1/nowhere/x')]),
    ...garbage,
    post('/settle', '{"payment_id":"pay_x","signed_transaction":"AAAA"}'),
    post('/create-payment', '{"amount":1}'),
    post('/verify', '{'),
  ];
}
