import { createTransferCheckedInstruction, getAssociatedTokenAddressSync } from '@solana/spl-token';
import {
  type Keypair,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import type { Sandbox } from '../../src/sandbox/start-sandbox.js';

/** Parsed JSON of which a test knows the shape; a wrong path yields undefined and fails the expectation. */
export type Json = ReturnType<typeof JSON.parse>;

/** The response to a JSON-RPC call, of which one member is there. */
export interface Answer {
  readonly result?: Json;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Json };
}

/** Posts a JSON-RPC call as plain JSON: what is tested is the wire, not a client. */
export async function call(sandbox: Sandbox, method: string, params: unknown[] = []): Promise<Answer> {
  const response = await post(sandbox, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  return (await response.json()) as Answer;
}

/** Posts any body. */
export function post(sandbox: Sandbox, body: string, signal?: AbortSignal): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(sandbox.rpcUrl, { method: 'POST', headers, body, ...(signal === undefined ? {} : { signal }) });
}

/** A signed transaction over the newest blockhash, the first signer paying, as base64. */
export async function sign(
  sandbox: Sandbox,
  signers: readonly [Keypair, ...Keypair[]],
  instructions: TransactionInstruction[],
): Promise<{ readonly wire: string; readonly signature: string; readonly transaction: VersionedTransaction }> {
  const { result } = await call(sandbox, 'getLatestBlockhash', [{ commitment: 'processed' }]);
  const message = new TransactionMessage({
    payerKey: signers[0].publicKey,
    recentBlockhash: result.value.blockhash,
    instructions,
  });
  const transaction = new VersionedTransaction(message.compileToV0Message());
  transaction.sign([...signers]);
  const wire = toWire(transaction);
  return { wire, signature: bs58.encode(transaction.signatures[0] ?? new Uint8Array()), transaction };
}

/** A transaction as base64. */
export function toWire(transaction: VersionedTransaction): string {
  return Buffer.from(transaction.serialize()).toString('base64');
}

/** Sends a base64 transaction; the blockhash may be as new as the newest. */
export function send(sandbox: Sandbox, wire: string, options: Record<string, unknown> = {}): Promise<Answer> {
  return call(sandbox, 'sendTransaction', [wire, { encoding: 'base64', preflightCommitment: 'processed', ...options }]);
}

/** The status of one signature, null when unknown. */
export async function status(sandbox: Sandbox, signature: string): Promise<Json> {
  const { result } = await call(sandbox, 'getSignatureStatuses', [[signature]]);
  return result.value[0];
}

/** An instruction that moves lamports. */
export function lamports(from: Keypair, to: PublicKey, amount: number): TransactionInstruction {
  return SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: to, lamports: amount });
}

/** An instruction that moves tokens between two associated token accounts. */
export function tokens(
  from: Keypair,
  to: PublicKey,
  token: { readonly mint: string; readonly decimals: number; readonly program: string },
  amount: bigint,
): TransactionInstruction {
  const [mint, program] = [new PublicKey(token.mint), new PublicKey(token.program)];
  const source = getAssociatedTokenAddressSync(mint, from.publicKey, true, program);
  const destination = getAssociatedTokenAddressSync(mint, to, true, program);
  const { decimals } = token;
  return createTransferCheckedInstruction(source, mint, destination, from.publicKey, amount, decimals, [], program);
}
