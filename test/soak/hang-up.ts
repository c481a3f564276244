import { connect, type Socket } from 'node:net';
import { linesOf, rawRequest } from '../helpers/http/raw-http.js';
import type { SentPayment } from './payment-book.js';
import { noteDelivery, type Sending, type Shop } from './shop.js';
import { HOME, useOf } from './use.js';

/** Where a client hangs up. */
export interface Cut {
  /** After so many bytes of what comes over the connection, head and all. */
  readonly afterBytes: number;
  /** How long it holds the connection then without reading, milliseconds. */
  readonly lingerMs: number;
  /** With a reset in place of an end. */
  readonly isReset: boolean;
  /** How long it waits for them, milliseconds. */
  readonly patienceMs: number;
}

/** Sends a paid request over a connection of its own and hangs up in the middle of what it gets, which is noted. */
export async function hangUp(
  shop: Shop,
  payment: SentPayment,
  path: string,
  sending: Sending,
  cut: Cut,
): Promise<void> {
  const { method = 'GET', headers = {}, body = '', from = HOME } = sending;
  payment.path = path;
  const socket = open(shop.url, from);
  const length = body === '' ? [] : [`content-length: ${Buffer.byteLength(body)}`];
  socket.write(rawRequest(`${method} ${path}`, ['connection: close', ...linesOf(headers), ...length], body));
  const { text, isCut } = await readUntil(socket, cut);
  shop.findings.count('hang-ups', isCut ? placeOf(text) : 'after the whole response');
  const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
  if (status !== '200' || !text.includes('"run":"')) return;
  const replay = /^idempotency-replayed: (.*)\r$/im.exec(text)?.[1];
  const received = new Headers(replay === undefined ? {} : { 'idempotency-replayed': replay });
  noteDelivery(payment, { use: useOf(path, sending), text, headers: received, isWhole: false });
}

function open(url: string, localAddress: string): Socket {
  const { hostname, port } = new URL(url);
  return connect({ host: hostname, port: Number(port), localAddress }).on('error', () => undefined);
}

function readUntil(
  socket: Socket,
  { afterBytes, lingerMs, isReset, patienceMs }: Cut,
): Promise<{ text: string; isCut: boolean }> {
  const chunks: Buffer[] = [];
  let length = 0;
  let isCut = false;
  function cut(): void {
    isCut = true;
    if (isReset) socket.resetAndDestroy();
    else socket.destroy();
  }
  return new Promise((resolve) => {
    const timer = setTimeout(cut, patienceMs);
    let lingering: NodeJS.Timeout | undefined;
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length < afterBytes) return;
      socket.pause();
      lingering ??= setTimeout(cut, lingerMs);
    });
    socket.once('close', () => {
      clearTimeout(timer);
      clearTimeout(lingering);
      resolve({ text: Buffer.concat(chunks).toString('latin1'), isCut });
    });
  });
}

function placeOf(text: string): string {
  if (text === '') return 'before the first byte';
  return /\r\n\r\n./.test(text) ? 'in the body' : 'in the head, or after it';
}
