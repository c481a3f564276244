import type { Keypair } from '@solana/web3.js';
import type { Express } from 'express';
import express5 from 'express';
import express4 from 'express4';
import {
  createTimedFacilitator,
  type EmbeddedFacilitator,
  type FacilitatorTiming,
} from '../../src/facilitator/create-facilitator.js';
import type { FacilitatorOptions } from '../../src/facilitator/facilitator-options.js';
import { KNOWN_TOKENS, SANDBOX_TOKENS } from '../../src/protocol/networks/tokens.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/start-sandbox.js';
import { serveApp } from './app-server.js';

/** Both Expresses that the middleware promises to work on. */
export const EXPRESSES = [
  ['Express 5', express5],
  ['Express 4', express4],
] as const;

/** Where the version of Express changes nothing that is tested: the newest alone from day to day, both in `test:all`. */
export const DAILY_EXPRESSES = process.env['EXPRESSES'] === 'all' ? EXPRESSES : EXPRESSES.slice(0, 1);

/**
 * For slots of 20 ms, a twentieth of the cluster's: for tests in which something does not land or is not pushed. A test that
 * counts calls on a busy machine keeps the real ones.
 */
export const QUICK: FacilitatorTiming = {
  pollMs: 50,
  latePollMs: 250,
  heightMs: 100,
  rebroadcastMs: 200,
  payoutMs: 1_500,
  blockhashMs: 0,
  firstRestMs: 20,
  longestRestMs: 200,
};

/** A chain, a facilitator on it, a seller who can receive, and payers. Everything is closed with it. */
export interface TollStand {
  readonly sandbox: Sandbox;
  readonly facilitator: EmbeddedFacilitator;
  readonly feePayer: Keypair;
  /** The seller's wallet, with empty accounts for every token. */
  readonly payTo: string;
  /** Has 1,000 of every token, and no SOL. */
  readonly payer: Keypair;
  /** Another facilitator on the same chain. Its set-up is not looked at unasked: calls to the chain are counted. */
  facilitatorWith(options: Partial<FacilitatorOptions>, timing?: FacilitatorTiming): EmbeddedFacilitator;
  /** Serves an app on a free port; answers its address. */
  serve(configure: (app: Express) => void, express?: typeof express5): Promise<string>;
  close(): Promise<void>;
}

/** Slots of 20 ms: a payment is confirmed some 40 ms after it was sent. */
export async function openTollStand(options: SandboxOptions = {}): Promise<TollStand> {
  const sandbox = await startSandbox({ slotMs: 20, ...options });
  const feePayer = await sandbox.createWallet({ sol: '10' });
  const seller = await sandbox.createWallet({ usdc: '0', usdt: '0', pyusd: '0' });
  const payer = await sandbox.createWallet({ usdc: '1000', usdt: '1000', pyusd: '1000' });
  const tokens = sandbox.network === 'solana' ? KNOWN_TOKENS.solana : SANDBOX_TOKENS;
  const { network, rpcUrl, wsUrl } = sandbox;
  const closers: (() => Promise<void>)[] = [() => sandbox.close()];

  function facilitatorWith(more: Partial<FacilitatorOptions>, timing: FacilitatorTiming = {}): EmbeddedFacilitator {
    const options = { network, rpcUrl, wsUrl, keypair: feePayer, tokens, check: false, ...more };
    const facilitator = createTimedFacilitator(options, timing);
    closers.unshift(() => facilitator.close());
    return facilitator;
  }

  return {
    sandbox,
    facilitator: facilitatorWith({}),
    feePayer,
    payTo: seller.publicKey.toBase58(),
    payer,
    facilitatorWith,
    async serve(configure, express = express5) {
      const { url, close } = await serveApp(configure, express);
      closers.unshift(close);
      return url;
    },
    async close() {
      for (const close of closers) await close();
    },
  };
}
