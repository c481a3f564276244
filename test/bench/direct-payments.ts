import { once } from 'node:events';
import { ComputeBudgetProgram, type Keypair, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { WebSocket } from 'ws';
import { SANDBOX_TOKENS } from '../../src/protocol/networks/tokens.js';
import {
  buildPaymentTransaction,
  type PaymentTransactionInput,
} from '../../src/solana/building/payment-transaction.js';
import { transferInstructions, unsignedTransaction } from '../../src/solana/building/transfer-transaction.js';
import type { BenchChain } from './chain.js';

/** Payments that go to the chain straight away, their payer paying the fee. */
export interface DirectPayments {
  /**
   * Sends one and resolves with its signature as soon as the chain has pushed that it is confirmed.
   * @param memo - default: one that keeps equal payments apart
   */
  pay(memo?: string): Promise<string>;
  close(): void;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly result?: number;
  readonly params?: { readonly subscription: number };
}

/** A blockhash is used for so long: the chain forgets it after some minutes. */
const BLOCKHASH_MS = 30_000;

/** Opens a socket to the chain for payments from a wallet to another one. */
export async function openDirectPayments(
  chain: BenchChain,
  wallet: Keypair,
  payTo: string,
  amount = 10_000n,
): Promise<DirectPayments> {
  const [usdc] = SANDBOX_TOKENS;
  if (usdc === undefined) throw new Error('the sandbox has no token');
  const { mint: asset, program: tokenProgram, decimals } = usdc;
  const socket = new WebSocket(chain.wsUrl);
  await once(socket, 'open');
  const subscribed = new Map<number, (subscription: number) => void>();
  const confirmed = new Map<number, () => void>();
  let calls = 0;
  socket.on('message', (data) => {
    const { id, result, method, params } = JSON.parse(String(data)) as Message;
    if (id !== undefined && result !== undefined) subscribed.get(id)?.(result);
    if (method === 'signatureNotification' && params !== undefined) confirmed.get(params.subscription)?.();
  });

  function watch(signature: string): Promise<() => Promise<void>> {
    calls += 1;
    const id = calls;
    const params = [signature, { commitment: 'confirmed' }];
    return new Promise((resolve) => {
      subscribed.set(id, (subscription) => {
        const end = new Promise<void>((done) => confirmed.set(subscription, done));
        resolve(() => end);
      });
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'signatureSubscribe', params }));
    });
  }

  const recent = { blockhash: await chain.blockhash(), at: performance.now() };

  async function blockhashNow(): Promise<string> {
    if (performance.now() - recent.at > BLOCKHASH_MS) {
      Object.assign(recent, { at: performance.now(), blockhash: await chain.blockhash() });
    }
    return recent.blockhash;
  }

  const feePayer = wallet.publicKey.toBase58();
  return {
    async pay(memo) {
      const blockhash = await blockhashNow();
      const payment = { payer: wallet, feePayer, asset, tokenProgram, decimals, amount, payTo, blockhash };
      const bytes = memo === undefined ? buildPaymentTransaction(payment) : saying(memo, payment);
      const signature = bs58.encode(bytes.subarray(1, 65));
      const end = await watch(signature);
      const params = [Buffer.from(bytes).toString('base64'), { encoding: 'base64', preflightCommitment: 'confirmed' }];
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'sendTransaction', params });
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(chain.rpcUrl, { method: 'POST', headers, body });
      const { error } = (await answer.json()) as { readonly error?: object };
      if (error !== undefined) throw new Error(`the chain refused a payment: ${JSON.stringify(error)}`);
      await end();
      return signature;
    },
    close: () => socket.close(),
  };
}

let said = 0;

/** A payment with a given memo; what it pays for a million compute units keeps equal ones apart. */
function saying(
  memo: string,
  { payer, amount, payTo, blockhash, ...token }: Omit<PaymentTransactionInput, 'payer'> & { readonly payer: Keypair },
): Uint8Array {
  said += 1;
  const plan = {
    ...token,
    legs: [{ recipient: payTo, amount }],
    reference: undefined,
    memo,
    accountsToCreate: new Set<string>(),
  };
  const wallet = payer.publicKey.toBase58();
  const instructions = transferInstructions(plan, wallet).map((it, at) =>
    at === 1 ? ComputeBudgetProgram.setComputeUnitPrice({ microLamports: said }) : it,
  );
  const bytes = unsignedTransaction(instructions, wallet, blockhash);
  if (bytes === undefined) throw new Error('the payment does not fit into a transaction');
  const transaction = VersionedTransaction.deserialize(bytes);
  transaction.sign([payer]);
  return transaction.serialize();
}
