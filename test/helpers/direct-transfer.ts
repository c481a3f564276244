import { type Keypair, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import type { Leg } from '../../src/protocol/split.js';
import { SANDBOX_TOKENS } from '../../src/protocol/tokens.js';
import type { Sandbox } from '../../src/sandbox/start-sandbox.js';
import { transferInstructions, unsignedTransaction } from '../../src/solana/transfer-transaction.js';
import { until } from './until.js';

/** A transfer that a wallet makes and sends by itself, at its own cost. */
export interface DirectTransfer {
  readonly wallet: Keypair;
  readonly legs: readonly Leg[];
  /** Symbol; default USDC. */
  readonly token?: string;
}

async function ask(sandbox: Sandbox, method: string, ...params: unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(sandbox.rpcUrl, { method: 'POST', headers, body });
  return ((await answer.json()) as { readonly result: unknown }).result;
}

/** Sends signed bytes to a chain, whatever becomes of them; answers the signature. */
export async function sendToChain(sandbox: Sandbox, transaction: Uint8Array): Promise<string> {
  const text = Buffer.from(transaction).toString('base64');
  return String(await ask(sandbox, 'sendTransaction', text, { encoding: 'base64', skipPreflight: true }));
}

/** Waits until a transaction is confirmed, well or badly. */
export async function confirmed(sandbox: Sandbox, signature: string): Promise<void> {
  const config = { commitment: 'confirmed', encoding: 'base64', maxSupportedTransactionVersion: 0 };
  await until(async () => (await ask(sandbox, 'getTransaction', signature, config)) !== null);
}

/** Builds and signs a transfer. */
export async function signTransfer(sandbox: Sandbox, { wallet, legs, token = 'USDC' }: DirectTransfer) {
  const found = SANDBOX_TOKENS.find(({ symbol }) => symbol === token);
  if (found === undefined) throw new Error(`the sandbox has no ${token}`);
  const { value } = (await ask(sandbox, 'getLatestBlockhash')) as { readonly value: { readonly blockhash: string } };
  const payer = wallet.publicKey.toBase58();
  const { mint: asset, program: tokenProgram, decimals } = found;
  const plan = { asset, tokenProgram, decimals, legs, reference: undefined, memo: undefined };
  const instructions = transferInstructions({ ...plan, accountsToCreate: new Set() }, payer);
  const transaction = VersionedTransaction.deserialize(unsignedTransaction(instructions, payer, value.blockhash)!);
  transaction.sign([wallet]);
  return { bytes: transaction.serialize(), signature: bs58.encode(transaction.signatures[0]!) };
}

/** Makes a transfer and waits until it is confirmed; answers its signature. */
export async function transferDirectly(sandbox: Sandbox, transfer: DirectTransfer): Promise<string> {
  const signature = await sendToChain(sandbox, (await signTransfer(sandbox, transfer)).bytes);
  await confirmed(sandbox, signature);
  return signature;
}
