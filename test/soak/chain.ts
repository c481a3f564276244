import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { createSolanaRpc } from '../../src/solana/rpc/rpc-client.js';

/** The chain of all shops, and what is beside it. */
export interface SoakChain {
  readonly sandbox: Sandbox;
  /** Reads the chain for the checks. */
  readonly rpc: ReturnType<typeof createSolanaRpc>;
  /** Address of the API behind the gateways. */
  readonly upstream: string;
  /** The newest blockhash that could be had. */
  blockhash(): string;
  /** Resolves when what is under way on the chain has landed and is final. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** A blockhash lives 15 s, so that transactions expire. */
const CHAIN = { slotMs: 50, maxBlockhashAgeBlocks: 300, historyLimit: 1_000_000 };
/** Longer than the latest transaction that the soak delays, and than finality. */
const SETTLED_SLOTS = 150;
const BLOCKHASH_EVERY_MS = 1_000;
const RPC_TIMEOUT_MS = 240_000;
/** Beyond the patience of some callers. */
const LATE_MS = 300;

/** The upstream does as the end of the path says; by default it answers. */
function behave(mood: string, response: ServerResponse): void {
  const answer = () => void response.end(JSON.stringify({ run: randomUUID() }));
  switch (mood) {
    case 'fails':
      return void response.writeHead(500).end('{"sorry":true}');
    case 'breaks':
      return void response.destroy();
    case 'breaks-in-mid-body':
      response.writeHead(200, { 'content-length': 100 });
      return void response.write('half', () => response.socket?.resetAndDestroy());
    case 'is-late':
      return void setTimeout(answer, LATE_MS);
    default:
      return answer();
  }
}

export async function startChain(): Promise<SoakChain> {
  const sandbox = await startSandbox(CHAIN);
  const rpc = createSolanaRpc({ urls: [sandbox.rpcUrl], timeoutMs: RPC_TIMEOUT_MS });
  let { blockhash } = await rpc.getLatestBlockhash('confirmed');
  const renewing = setInterval(() => {
    // While the chain cannot be asked, the last one has to do.
    rpc.getLatestBlockhash('confirmed').then(
      (latest) => {
        blockhash = latest.blockhash;
      },
      () => {},
    );
  }, BLOCKHASH_EVERY_MS);
  const upstream = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    behave(request.url?.split('/').at(-1) ?? '', response);
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  return {
    sandbox,
    rpc,
    upstream: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
    blockhash: () => blockhash,
    async settled() {
      const last = sandbox.slot() + SETTLED_SLOTS;
      while (sandbox.slot() < last) await new Promise((resolve) => setTimeout(resolve, 2 * CHAIN.slotMs));
    },
    async close() {
      clearInterval(renewing);
      await rpc.close();
      upstream.close();
      upstream.closeAllConnections();
      await sandbox.close();
    },
  };
}
