import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ErrorCode, problem } from '../errors/errors.js';
import { createUnreadResponses, type UnreadBounds } from '../lib/http/unread-responses.js';
import { newId } from '../lib/ids.js';
import { takeInTurn } from './connection-turns.js';

/** Headers of a request, in bytes; a payment with its terms has some 4,000. */
const MAX_HEADER_BYTES = 16 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
/** Longer than an upstream may take and its payment before it; event streams are never silent as long. */
const SILENCE_TIMEOUT_MS = 300_000;
/** Node looks for requests that are late this often; its own half a minute would let them hold connections that long. */
const LATENESS_CHECK_MS = 1_000;

/** What is wrong with requests that never reach the app, by the error's code. */
const FAULTS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', `The headers are larger than ${MAX_HEADER_BYTES} bytes.`],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request took too long to arrive.'],
};
const UNREADABLE = ['invalid_request', 'The request cannot be read as HTTP.'] as const;

/**
 * An HTTP server with limits of size and time, whose every refusal is a problem. It does not listen yet.
 * @param unread - what it keeps for clients that do not read
 */
export function createHttpServer(handle: RequestListener, unread?: UnreadBounds): Server {
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, connectionsCheckingInterval: LATENESS_CHECK_MS });
  const isInResponse = takeInTurn(server, handle, createUnreadResponses(unread));
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  server.timeout = SILENCE_TIMEOUT_MS;
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || isInResponse(socket)) socket.destroy();
    else answerUnreadable(error, socket);
  });
  return server;
}

function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  const [code, detail] = FAULTS[error.code ?? ''] ?? UNREADABLE;
  const id = newId('req');
  const told = problem(code, detail, { request_id: id });
  const body = JSON.stringify(told);
  const head = [
    `HTTP/1.1 ${told.status} ${STATUS_CODES[told.status]}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    `X-Request-Id: ${id}`,
    'Access-Control-Allow-Origin: *',
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** Starts to listen; rejects when that is not possible. */
export function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Where a server listens. */
export function urlOf(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}
