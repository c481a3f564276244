import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createTimedFacilitator, type EmbeddedFacilitator } from '../../../src/facilitator/create-facilitator.js';
import type { FacilitatorOptions } from '../../../src/facilitator/facilitator-options.js';
import { QUICK, type TollFixture } from '../fixtures/toll-fixture.js';

/** A call to a node. */
export interface NodeCall {
  readonly method: string;
  params: unknown[];
}

/** A node that does not tell the truth, and a facilitator that has no other. */
export interface LyingNode {
  readonly url: string;
  readonly facilitator: EmbeddedFacilitator;
  /** What is answered in place of the true result; default the true result. */
  lie: (method: string, result: unknown) => unknown;
  /** Changes a call before the chain hears of it; default nothing. */
  twist: (call: NodeCall) => void;
  close(): Promise<void>;
}

/** Starts a node before a fixture's chain. It answers by HTTP only: statuses are polled. */
export async function startLyingNode(
  fixture: TollFixture,
  options: Partial<FacilitatorOptions> = {},
): Promise<LyingNode> {
  const { rpcUrl, network } = fixture.sandbox;
  const headers = { 'content-type': 'application/json' };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const call = JSON.parse(text) as NodeCall;
    node.twist(call);
    const truth = await fetch(rpcUrl, { method: 'POST', headers, body: JSON.stringify(call) });
    const answer = (await truth.json()) as { result?: unknown };
    if ('result' in answer) answer.result = node.lie(call.method, answer.result);
    response.writeHead(200, headers).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { tokens } = fixture.facilitator;
  const common = { network, rpcUrl: url, keypair: fixture.feePayer, tokens, blockhashHints: false, check: false };
  const facilitator = createTimedFacilitator({ ...common, ...options }, QUICK);
  const node: LyingNode = {
    url,
    facilitator,
    lie: (_method, result) => result,
    twist: () => undefined,
    async close() {
      await facilitator.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return node;
}
