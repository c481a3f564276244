import { type Keypair, PublicKey, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import type { Leg } from '../../../src/protocol/money/split.js';
import { SANDBOX_TOKENS } from '../../../src/protocol/networks/tokens.js';
import type { Sandbox } from '../../../src/sandbox/start-sandbox.js';
import { memoInstruction } from '../../../src/solana/building/memo.js';
import { transferInstructions, unsignedTransaction } from '../../../src/solana/building/transfer-transaction.js';
import { NATIVE_SOL } from '../../../src/solana/transaction/programs.js';
import { until } from '../until.js';

/** A transfer that a wallet makes and sends by itself, at its own cost. */
export interface DirectTransfer {
  readonly wallet: Keypair;
  readonly legs: readonly Leg[];
  /** Symbol, SOL being wrapped, or `native`; default USDC. */
  readonly token?: string;
  /** Texts that it carries. */
  readonly memos?: readonly string[];
  /** Accounts that its first transfer names, read-only, in this order. */
  readonly names?: readonly string[];
  /** Who pays the network fee; default the wallet. */
  readonly feePayer?: Keypair;
}

const NATIVE = { mint: NATIVE_SOL, program: NATIVE_SOL, decimals: 9 };

async function ask(sandbox: Sandbox, method: string, ...params: unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(sandbox.rpcUrl, { method: 'POST', headers, body });
  return ((await answer.json()) as { readonly result: unknown }).result;
}

/** A blockhash that is good for a while. */
export async function latestBlockhash(sandbox: Sandbox): Promise<string> {
  const { value } = (await ask(sandbox, 'getLatestBlockhash')) as { readonly value: { readonly blockhash: string } };
  return value.blockhash;
}

/** Sends signed bytes to a chain, whatever becomes of them; answers the signature. */
export async function sendToChain(sandbox: Sandbox, transaction: Uint8Array): Promise<string> {
  const text = Buffer.from(transaction).toString('base64');
  return String(await ask(sandbox, 'sendTransaction', text, { encoding: 'base64', skipPreflight: true }));
}

/** Waits until a transaction is confirmed, well or badly. */
export async function confirmed(sandbox: Sandbox, signature: string): Promise<void> {
  await until(() => isConfirmed(sandbox, signature));
}

/** Whether it is. */
export async function isConfirmed(sandbox: Sandbox, signature: string): Promise<boolean> {
  const config = { commitment: 'confirmed', encoding: 'base64', maxSupportedTransactionVersion: 0 };
  return (await ask(sandbox, 'getTransaction', signature, config)) !== null;
}

/** Builds and signs a transfer. */
export async function signTransfer(sandbox: Sandbox, transfer: DirectTransfer) {
  const { wallet, feePayer = wallet } = transfer;
  const instructions = instructionsOf(transfer);
  const unsigned = unsignedTransaction(instructions, feePayer.publicKey.toBase58(), await latestBlockhash(sandbox));
  if (unsigned === undefined) throw new Error('the transfer does not fit into a transaction');
  const transaction = VersionedTransaction.deserialize(unsigned);
  transaction.sign([...new Set([wallet, feePayer])]);
  return { bytes: transaction.serialize(), signature: bs58.encode(transaction.signatures[0]!) };
}

function instructionsOf({ wallet, legs, token = 'USDC', memos = [], names = [] }: DirectTransfer) {
  const found = token === 'native' ? NATIVE : SANDBOX_TOKENS.find(({ symbol }) => symbol === token);
  if (found === undefined) throw new Error(`the sandbox has no ${token}`);
  const { mint: asset, program: tokenProgram, decimals } = found;
  const plan = { asset, tokenProgram, decimals, legs, reference: undefined, memo: undefined };
  const instructions = transferInstructions({ ...plan, accountsToCreate: new Set() }, wallet.publicKey.toBase58());
  const first = instructions.find(({ programId }) => programId.toBase58() === tokenProgram);
  for (const name of names) {
    first?.keys.push({ pubkey: new PublicKey(name), isSigner: false, isWritable: false });
  }
  return [...instructions, ...memos.map(memoInstruction)];
}

/** Makes a transfer and waits until it is confirmed; answers its signature. */
export async function transferDirectly(sandbox: Sandbox, transfer: DirectTransfer): Promise<string> {
  const signature = await sendToChain(sandbox, (await signTransfer(sandbox, transfer)).bytes);
  await confirmed(sandbox, signature);
  return signature;
}
