import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A JSON-RPC call on its way to the chain. */
export interface PassingCall {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What is said in place of the chain's answer. */
export interface OtherResponse {
  readonly status: number;
  readonly body: string;
  /** The chain does not hear of the call. */
  readonly isUnheard?: true;
}

/**
 * What becomes of a call: it passes; it is held back for ever, and the chain never hears of it; or the chain hears of it
 * and nobody hears its response, because none comes, the connection is cut, or another response comes.
 */
export type Passage = 'pass' | 'hold' | 'unanswered' | 'cut' | OtherResponse;

/** Stands between a process under test and the chain. */
export interface RpcProxy {
  readonly url: string;
  /** Decides on each call, taking its time; default: everything passes. */
  decide: (call: PassingCall) => Passage | Promise<Passage>;
  /** Called when a response has left for the process. */
  onAnswered: (call: PassingCall) => void;
  close(): Promise<void>;
}

/** Starts a proxy before an RPC. */
export async function startRpcProxy(rpcUrl: string): Promise<RpcProxy> {
  const server = createServer((request, response) => {
    pass(request, response).catch(() => response.destroy());
  });

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += chunk;
    const call = JSON.parse(body) as PassingCall;
    const passage = await proxy.decide(call);
    if (passage === 'hold') return;
    if (typeof passage === 'object' && passage.isUnheard) {
      return void response.writeHead(passage.status).end(passage.body);
    }
    const answer = await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    const text = await answer.text();
    if (passage === 'unanswered') return;
    if (passage === 'cut') return void response.destroy();
    if (typeof passage === 'object') return void response.writeHead(passage.status).end(passage.body);
    response.once('finish', () => proxy.onAnswered(call));
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: RpcProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    decide: () => 'pass',
    onAnswered: () => undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return proxy;
}
