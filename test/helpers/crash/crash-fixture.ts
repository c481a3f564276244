import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { type RpcProxy, startRpcProxy } from '../nodes/rpc-proxy.js';
import { type ListeningProcess, startListening } from '../processes/listening-process.js';
import { stopFiles } from '../processes/run-file.js';

/** Mint of the token that everything is sold for. */
export const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
/** What everything costs, in atomic units. */
export const PRICE = 10_000n;

/** A seller's process; what it tells: see crash-server.ts. */
export type Seller = Omit<ListeningProcess, 'port'> & { readonly url: string };

/** A chain that outlives the processes which are killed on it, and everything that those meet. */
export interface CrashFixture {
  readonly sandbox: Sandbox;
  readonly feePayer: Keypair;
  /** The seller's wallet, base58. */
  readonly payTo: string;
  readonly proxy: RpcProxy;
  /** What handlers did, in order: `run` or `half` and the path. */
  readonly handled: readonly string[];
  /** Whether a handler is kept waiting where it is; default no. */
  keep: (point: string) => boolean | Promise<boolean>;
  /** Called at each thing that a handler does. */
  onHandled: () => void;
  /**
   * Starts a seller's process on a database; its passes at `/pass/…` have so many uses, default 5. With a wallet that pays refunds it
   * makes them at `POST /refund/:payment`.
   */
  startSeller(database: string, leaseMs: number, passUses?: number, refundWallet?: Keypair): Promise<Seller>;
  /** USDC of a wallet, atomic units. */
  held(address: string): bigint;
  close(): Promise<void>;
}

/**
 * Blockhashes must outlive restarts on a busy machine. What is held before it is sent is over for the one who sends it after 278 slots,
 * whatever the chain says: with those of 20 ms that was sooner than a slow machine had brought fourteen payments to their places.
 */
const CHAIN = { slotMs: 50, maxBlockhashAgeBlocks: 10_000 };

export async function openCrashFixture(): Promise<CrashFixture> {
  const sandbox = await startSandbox(CHAIN);
  const feePayer = await sandbox.createWallet({ sol: '100' });
  const payTo = (await sandbox.createWallet({ usdc: '0' })).publicKey.toBase58();
  const proxy = await startRpcProxy(sandbox.rpcUrl);
  const handled: string[] = [];
  const control = createServer(async (request, response) => {
    const point = (request.url ?? '').slice(1);
    handled.push(point);
    fixture.onHandled();
    if (!(await fixture.keep(point))) response.end();
  });
  await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve));

  const fixture: CrashFixture = {
    sandbox,
    feePayer,
    payTo,
    proxy,
    handled,
    keep: () => false,
    onHandled: () => undefined,
    startSeller: (database, leaseMs, passUses = 5, refundWallet = undefined) =>
      startSeller({
        SELLER_DATABASE: database,
        SELLER_RPC: proxy.url,
        SELLER_KEYPAIR: bs58.encode(feePayer.secretKey),
        SELLER_PAY_TO: payTo,
        SELLER_CONTROL: urlOf(control),
        SELLER_LEASE_MS: String(leaseMs),
        SELLER_PASS_USES: String(passUses),
        ...(refundWallet === undefined ? {} : { SELLER_REFUND_KEYPAIR: bs58.encode(refundWallet.secretKey) }),
      }),
    held: (address) => sandbox.tokenBalance(address, USDC),
    async close() {
      stopFiles();
      control.close();
      control.closeAllConnections();
      await proxy.close();
      await sandbox.close();
    },
  };
  return fixture;
}

async function startSeller(env: Readonly<Record<string, string>>): Promise<Seller> {
  const { port, ...seller } = await startListening('test/helpers/crash/crash-server.ts', env);
  return { ...seller, url: `http://127.0.0.1:${port}` };
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
