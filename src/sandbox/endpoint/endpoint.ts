import { once, setMaxListeners } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Chain } from '../chain/chain.js';
import type { FaultSource } from '../faults.js';
import { type CallCounter, HTTP_METHODS } from '../rpc/calls.js';
import { createDispatch, type Invoke } from '../rpc/dispatch.js';
import type { RpcMethod } from '../rpc/method.js';
import { createSubscriptions, type Subscriptions } from '../rpc/subscriptions.js';
import { JsonRpcFault, RPC_CODES } from '../runtime/rpc-error.js';
import { createHttpEndpoint } from './http-endpoint.js';
import { listenPair } from './listen.js';
import { createSocketEndpoint } from './socket-endpoint.js';

/** A chain's JSON-RPC, listening. */
export interface Endpoint {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  readonly subscriptions: Subscriptions;
  close(): Promise<void>;
}

/** What an endpoint serves and where. */
export interface SandboxEndpointParts {
  readonly chain: Chain;
  readonly counter: CallCounter;
  readonly faults: FaultSource;
  readonly host: string;
  readonly port: number;
}

/** Opens a chain to JSON-RPC clients over HTTP and WebSocket. */
export async function startEndpoint({ chain, counter, faults, host, port }: SandboxEndpointParts): Promise<Endpoint> {
  const stopping = new AbortController();
  // Every call that is delayed listens to it.
  setMaxListeners(0, stopping.signal);
  const shared = { counter, faults, signal: stopping.signal };
  const subscriptions = createSubscriptions(chain);
  const sockets = createSocketEndpoint(createDispatch({ transport: 'socket', ...shared }), subscriptions);
  const http = createHttpEndpoint(createDispatch({ transport: 'http', ...shared }), invokeOn(chain));
  const upgradesOnly = createServer((_request, response) => {
    response.writeHead(426, { 'content-type': 'text/plain', upgrade: 'websocket' }).end('WebSocket only');
  });
  sockets.attach(http);
  sockets.attach(upgradesOnly);
  const ports = await listenPair(http, upgradesOnly, host, port);
  const reachable = reachableHost(host);
  return {
    rpcUrl: `http://${reachable}:${ports.http}`,
    wsUrl: `ws://${reachable}:${ports.socket}`,
    subscriptions,
    close: async () => {
      stopping.abort();
      subscriptions.close();
      await sockets.close();
      await Promise.all([stop(http), stop(upgradesOnly)]);
    },
  };
}

function invokeOn(chain: Chain): Invoke {
  const methods: Readonly<Record<string, RpcMethod>> = HTTP_METHODS;
  return (name, params, fault) => {
    const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
    if (method === undefined) {
      throw new JsonRpcFault(RPC_CODES.methodNotFound, 'Method not found');
    }
    return method(chain, params, fault);
  };
}

/** Clients cannot connect to the addresses that mean "every interface". */
function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') {
    return '127.0.0.1';
  }
  return host.includes(':') ? `[${host}]` : host;
}

async function stop(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
