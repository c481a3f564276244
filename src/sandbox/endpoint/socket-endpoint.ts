import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { type Dispatch, errorBody, type Reply } from '../rpc/dispatch.js';
import { toJson } from '../rpc/json.js';
import type { Subscriptions } from '../rpc/subscriptions.js';
import { JsonRpcFault, RPC_CODES } from '../runtime/rpc-error.js';

const MAX_MESSAGE_BYTES = 50 * 1024;
const NORMAL_CLOSURE = 1000;
const GOODBYE_MS = 250;

/** The WebSocket side of the endpoint. */
export interface SocketEndpoint {
  /** Accepts upgrades that arrive at an HTTP server. */
  attach(server: Server): void;
  /** Says good-bye to every client, so that none of them tries to connect again, and cuts those that do not answer. */
  close(): Promise<void>;
}

/** Creates the WebSocket side of the endpoint: subscriptions, over any number of HTTP servers. */
export function createSocketEndpoint(dispatch: Dispatch, subscriptions: Subscriptions): SocketEndpoint {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES });

  sockets.on('connection', (socket: WebSocket) => {
    const client = (message: unknown): void => socket.send(toJson(message));
    socket.on('message', (data) => {
      handle(data, dispatch, subscriptions, client).then((reply) => send(socket, client, reply));
    });
    socket.on('close', () => subscriptions.forget(client));
    socket.on('error', () => socket.terminate());
  });

  return {
    attach: (server) => {
      server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
        sockets.handleUpgrade(request, stream, head, (socket) => sockets.emit('connection', socket, request));
      });
    },
    close: async () => {
      sockets.close();
      await Promise.all([...sockets.clients].map(closeSocket));
    },
  };
}

async function closeSocket(socket: WebSocket): Promise<void> {
  const closed = once(socket, 'close');
  const timer = setTimeout(() => socket.terminate(), GOODBYE_MS);
  socket.close(NORMAL_CLOSURE);
  await closed;
  clearTimeout(timer);
}

async function handle(
  data: RawData,
  dispatch: Dispatch,
  subscriptions: Subscriptions,
  client: (message: unknown) => void,
): Promise<Reply> {
  const request = parse(String(data));
  return request === undefined
    ? { kind: 'answer', body: errorBody(new JsonRpcFault(RPC_CODES.parse, 'Parse error')) }
    : dispatch(request, (method, params, fault) => subscriptions.invoke(client, method, params, fault));
}

function send(socket: WebSocket, client: (message: unknown) => void, reply: Reply): void {
  if (reply.kind === 'disconnect') {
    socket.terminate();
  } else if (reply.kind === '429') {
    client(errorBody(new JsonRpcFault(429, 'Too many requests for a specific RPC call')));
  } else if (reply.kind === 'answer') {
    client(reply.body);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
