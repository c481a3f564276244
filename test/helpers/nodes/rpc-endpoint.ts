import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the endpoint does with a call. */
export type Reaction =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message?: string; readonly data?: unknown } }
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'hang'
  | 'hang_in_body'
  | 'disconnect';

/** A call as it came in. */
export interface ReceivedCall {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly authorization: string | undefined;
}

/** A real HTTP server on a free port that reacts to JSON-RPC calls as it is told. */
export interface RpcEndpoint {
  readonly url: string;
  readonly calls: ReceivedCall[];
  /** TCP connections accepted so far. */
  connections(): number;
  react: (call: ReceivedCall) => Reaction;
  close(): Promise<void>;
}

const endpoints: RpcEndpoint[] = [];

export async function startRpcEndpoint(react: (call: ReceivedCall) => Reaction): Promise<RpcEndpoint> {
  let connections = 0;
  const server = createServer((request, response) => {
    void readCall(request).then(({ id, call }) => {
      endpoint.calls.push(call);
      answer(response, id, endpoint.react(call));
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const endpoint: RpcEndpoint = {
    url: `http://127.0.0.1:${port}/secret-path?api-key=secret-key`,
    calls: [],
    connections: () => connections,
    react,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  endpoints.push(endpoint);
  return endpoint;
}

/** Stops every endpoint that was started; for `afterEach`. */
export async function closeRpcEndpoints(): Promise<void> {
  await Promise.all(endpoints.splice(0).map((endpoint) => endpoint.close()));
}

/** An address where nobody listens. */
export async function deadUrl(): Promise<string> {
  const endpoint = await startRpcEndpoint(() => 'hang');
  await endpoint.close();
  return endpoint.url;
}

async function readCall(request: IncomingMessage): Promise<{ id: unknown; call: ReceivedCall }> {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { id, method, params } = JSON.parse(body) as { id: unknown; method: string; params: unknown[] };
  return { id, call: { method, params, authorization: request.headers.authorization } };
}

function answer(response: ServerResponse, id: unknown, reaction: Reaction): void {
  if (reaction === 'hang') return;
  if (reaction === 'disconnect') {
    response.socket?.destroy();
  } else if (reaction === 'hang_in_body') {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write('{"jsonrpc":');
  } else if ('status' in reaction) {
    response.writeHead(reaction.status, reaction.headers).end(reaction.body ?? '');
  } else {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...reaction }));
  }
}
