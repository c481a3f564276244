import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Dispatch, Invoke, Reply } from '../rpc/dispatch.js';
import { errorBody } from '../rpc/dispatch.js';
import { toJson } from '../rpc/json.js';
import { JsonRpcFault, RPC_CODES } from '../runtime/rpc-error.js';

/** Bytes of a request body, as on a real node. */
const MAX_BODY_BYTES = 50 * 1024;

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST, GET, OPTIONS',
  'access-control-allow-headers': '*',
  'access-control-max-age': '86400',
};

/** Creates the HTTP side of the endpoint: POST with a JSON-RPC request or a batch of them; browsers may call it from any page. */
export function createHttpEndpoint(dispatch: Dispatch, invoke: Invoke): Server {
  return createServer((request, response) => {
    serve(request, response, dispatch, invoke).catch(() => response.destroy());
  });
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  dispatch: Dispatch,
  invoke: Invoke,
): Promise<void> {
  if (request.method === 'OPTIONS') {
    response.writeHead(204, CORS).end();
    return;
  }
  if (request.method !== 'POST') {
    const healthy = request.method === 'GET' && request.url === '/health';
    const text = healthy ? 'ok' : 'Used HTTP Method is not allowed. POST or OPTIONS is required';
    response.writeHead(healthy ? 200 : 405, { ...CORS, 'content-type': 'text/plain' }).end(text);
    return;
  }
  const body = await readBody(request);
  if (body === null) {
    response.writeHead(413, { ...CORS, connection: 'close' }).end();
    return;
  }
  const replies = await dispatchBody(body, dispatch, invoke);
  send(response, replies);
}

/** The body as text, null when it is too large. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) {
      return null;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** The reply to a single request, or the list of replies to a batch. */
async function dispatchBody(body: string, dispatch: Dispatch, invoke: Invoke): Promise<Reply | readonly Reply[]> {
  const parsed = parse(body);
  if (parsed === undefined) {
    return { kind: 'answer', body: errorBody(new JsonRpcFault(RPC_CODES.parse, 'Parse error')) };
  }
  if (!Array.isArray(parsed)) {
    return dispatch(parsed, invoke);
  }
  if (parsed.length === 0) {
    return { kind: 'answer', body: errorBody(new JsonRpcFault(RPC_CODES.invalidRequest, 'Invalid request')) };
  }
  return Promise.all(parsed.map((request) => dispatch(request, invoke)));
}

function send(response: ServerResponse, replies: Reply | readonly Reply[]): void {
  const all = [replies].flat();
  const kinds = new Set(all.map(({ kind }) => kind));
  if (kinds.has('hang')) {
    return;
  }
  if (kinds.has('disconnect')) {
    response.destroy();
    return;
  }
  if (kinds.has('429')) {
    const error = new JsonRpcFault(429, 'Too many requests for a specific RPC call');
    end(response, 429, errorBody(error));
    return;
  }
  const bodies = all.flatMap((reply) => (reply.kind === 'answer' ? [reply.body] : []));
  end(response, 200, Array.isArray(replies) ? bodies : bodies[0]);
}

function end(response: ServerResponse, status: number, body: unknown): void {
  const text = body === undefined ? '' : toJson(body);
  const length = String(Buffer.byteLength(text));
  response.writeHead(status, { ...CORS, 'content-type': 'application/json', 'content-length': length }).end(text);
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}
