import { signatureText } from '../../protocol/address.js';
import type { Refusal } from '../../protocol/types.js';
import type { SignatureHistory } from '../../solana/confirmation/signature-history.js';
import type { FeePayer } from '../../solana/fee-payer.js';
import { RpcError, type SolanaRpc } from '../../solana/rpc/rpc.js';
import { explainFault } from '../../solana/rules/simulation.js';
import type { DecodedTransaction } from '../../solana/transaction/transaction.js';
import type { InspectedPayment } from '../backend/backend.js';
import { landedRefusal, online, payerFault, UNKNOWN_PAST } from '../backend/chain-landing.js';
import { unavailable } from '../backend/outcomes.js';
import type { NodeLag } from './node-lag.js';

/** What finding out takes. */
export interface FaultParts {
  readonly rpc: SolanaRpc;
  /** By address. */
  readonly feePayers: ReadonlyMap<string, FeePayer>;
  readonly history: SignatureHistory;
  readonly nodeLag: NodeLag;
}

/** How a node has found that a transaction would fail. */
export interface FoundFault {
  /** Solana's TransactionError. */
  readonly err: unknown;
  /** Of the bank that it was found in. Default: not known. */
  readonly slot?: number | undefined;
  /** Whether the node did not know the blockhash, so that it could not tell what had landed. Default: as `err` says. */
  readonly isUncompared?: boolean;
}

/**
 * Why a payment is refused that would fail on the chain. A node that does not know the blockhash, any more, does not say what has landed
 * with it, and whoever is told to sign again would pay twice: so it is looked for. One that has landed, and of which nothing is in the
 * books, is told as paid, and buys nothing.
 * @throws {TollhouseError} `payment_backend_unavailable` where the chain does not tell, or the fault is on our side
 */
export async function whyNotTaken(
  parts: FaultParts,
  inspected: InspectedPayment,
  found: FoundFault,
): Promise<Omit<Refusal, 'payer'>> {
  const { err, isUncompared = err === 'BlockhashNotFound' } = found;
  const isKnown = err === 'AlreadyProcessed';
  const landed = isKnown || isUncompared ? await landedBefore(parts, inspected, found, isKnown) : undefined;
  if (landed === undefined && err === 'BlockhashNotFound') await refuseWhereBehind(parts);
  return landed ?? payerFault(await online(explainFault(err, inspected, parts.rpc)));
}

/** A node that lags behind knows no blockhash of now: to sign again would not help. */
async function refuseWhereBehind({ nodeLag }: FaultParts): Promise<void> {
  const seconds = Math.round((await online(nodeLag())) / 1_000);
  if (seconds > 0) throw unavailable(behindText(seconds));
}

function behindText(seconds: number): string {
  return `The Solana RPC is ${seconds} seconds behind this machine's clock and does not know the blockhash yet; nothing was charged: send the same payment again. The operator needs an RPC endpoint that keeps up, or to set the clock.`;
}

async function landedBefore(
  { feePayers, history }: FaultParts,
  inspected: InspectedPayment,
  { slot = 0 }: FoundFault,
  isKnown: boolean,
): Promise<Omit<Refusal, 'payer'> | undefined> {
  const signed = signedBy(feePayers, inspected);
  if (signed === undefined) return undefined;
  const signature = firstSignature(signed, inspected.transaction);
  const { state, slot: seen } = await history(signature).catch(unknownPast);
  if (state !== null && state.commitment !== 'processed') return landedRefusal(signature, state.err);
  // One that lags behind the node which has lost the blockhash may not have got the block yet, and a fork may still lose it.
  if (!isKnown && (state !== null || seen < slot)) throw unavailable(UNKNOWN_PAST);
  return undefined;
}

function unknownPast(error: unknown): never {
  if (error instanceof RpcError) throw unavailable(UNKNOWN_PAST, error);
  throw error;
}

/**
 * The transaction as it would be sent; undefined where our fee payer is gone. A payer that pays the network fee itself has signed everything
 * already. The same message is the same bytes again, at no further cost.
 */
export function signedBy(
  feePayers: FaultParts['feePayers'],
  { transaction, terms, sponsored }: InspectedPayment,
): Uint8Array | undefined {
  return sponsored ? feePayers.get(terms.feePayer ?? '')?.sign(transaction) : transaction.bytes;
}

/** What names a signed transaction, base58. */
export function firstSignature(signed: Uint8Array, { signaturesOffset }: DecodedTransaction): string {
  return signatureText(signed.subarray(signaturesOffset, signaturesOffset + 64));
}
