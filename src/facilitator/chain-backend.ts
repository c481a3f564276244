import { LRUCache } from 'lru-cache';
import { signatureText } from '../protocol/address.js';
import { REASONS, type Reason } from '../protocol/reasons.js';
import type { NetworkId, Supported, Terms, Verification } from '../protocol/types.js';
import type { BlockhashCache } from '../solana/blockhash-cache.js';
import type { Delivery, Landing, SentDelivery, TransactionDelivery } from '../solana/confirmation.js';
import type { FeePayer } from '../solana/fee-payer.js';
import type { MintPolicy } from '../solana/mint-policy.js';
import { networkFeeOf } from '../solana/network-fee.js';
import { type LatestBlockhash, RpcError, type SolanaRpc } from '../solana/rpc.js';
import type { CheckPolicy } from '../solana/rules.js';
import { explainFault } from '../solana/simulation.js';
import type { DecodedTransaction } from '../solana/transaction.js';
import type { PaymentRecord } from '../storage/ledger.js';
import type { BackendSettlement, InspectedPayment, SettlementBackend, SettleStep } from './backend.js';
import { online, payerFault, rejectedSettlement, settlementOf, unknownInOutage } from './chain-landing.js';
import type { FeeFuse } from './fee-fuse.js';
import type { HealthMonitor } from './health.js';
import { inspectPayment } from './inspect-payment.js';
import type { LandedReader } from './landed-reader.js';
import { unavailable, unsent } from './outcomes.js';

/** What the embedded facilitator works with. */
export interface ChainBackendParts {
  readonly network: NetworkId;
  readonly rpc: SolanaRpc;
  readonly delivery: TransactionDelivery;
  readonly blockhashes: BlockhashCache;
  readonly mintPolicy: MintPolicy;
  /** By address, at least one; the first is offered. */
  readonly feePayers: ReadonlyMap<string, FeePayer>;
  readonly policy: CheckPolicy;
  /** Reads transactions that have landed. */
  readonly landed: LandedReader;
  /** Knows whether settling is possible at all. */
  readonly monitor: HealthMonitor;
  /** Bounds what our fee payers spend. */
  readonly fuse: FeeFuse;
  /** Longest wait for a settlement, in milliseconds. */
  readonly settleTimeoutMs: number;
}

/** A passed simulation serves the settlement that follows it; the send's preflight catches what changed meanwhile. */
const VERIFIED_MS = 30_000;
const VERIFIED_MAX = 10_000;

type VerifiedCache = LRUCache<string, true>;

/** Verifies and settles on the chain, with fee payers of our own. */
export function createChainBackend(parts: ChainBackendParts): SettlementBackend {
  const { network, rpc, delivery, blockhashes, policy } = parts;
  const offered = createOffered(parts);
  const verified: VerifiedCache = new LRUCache({ max: VERIFIED_MAX, ttl: VERIFIED_MS });
  return {
    supported: async () => offered(),
    inspect: async (payment, terms) => inspectPayment(payment, terms, network, policy),
    verify: (inspected) => verify(parts, verified, inspected),
    settle: (inspected, step) => settle(parts, verified, inspected, step),
    resume: (inspected, record, step) => resume(parts, inspected, record, step),
    async close() {
      await delivery.close();
      blockhashes.close();
      await rpc.close();
    },
  };
}

/** A facilitator that is known to be unable to settle offers nothing; what was offered before keeps its signers. */
function createOffered({ network, feePayers, blockhashes, monitor, fuse }: ChainBackendParts): () => Supported {
  const signers = [...feePayers.keys()];
  const [feePayer] = signers;
  const nothing: Supported = { kinds: [], extensions: [], signers };
  /** What was offered last: every 402 asks, and the blockhash is another one only every few seconds. */
  let last: { readonly hint: LatestBlockhash | undefined; readonly supported: Supported } | undefined;
  return () => {
    const fault = fuse.fault();
    if (fault !== undefined) return { ...nothing, fault };
    if (feePayer === undefined || monitor.known()?.status === 'down') return nothing;
    const hint = blockhashes.peek();
    if (last !== undefined && last.hint === hint) return last.supported;
    const kind = { scheme: 'exact', network, feePayer };
    const supported = { kinds: [hint === undefined ? kind : { ...kind, hint }], extensions: [], signers };
    last = { hint, supported };
    return supported;
  };
}

async function verify(
  parts: ChainBackendParts,
  verified: VerifiedCache,
  inspected: InspectedPayment,
): Promise<Verification> {
  const { transaction, payer, sponsored } = inspected;
  if (sponsored) await parts.fuse.reach(networkFeeOf(transaction));
  // The message alone decides a simulation; the terms were compared with it by the pure rules.
  if (verified.has(transaction.messageHash)) return { ok: true, payer };
  const mintFault = await checkMint(parts, inspected);
  if (mintFault !== undefined) return { ok: false, reason: mintFault, message: REASONS[mintFault], payer };
  const { err } = await online(parts.rpc.simulateTransaction(transaction.bytes, 'confirmed'));
  if (err !== null) return { ok: false, payer, ...payerFault(await online(explainFault(err, inspected, parts.rpc))) };
  verified.set(transaction.messageHash, true);
  return { ok: true, payer };
}

/** Counts the fee of what is to be signed; a transaction that provably does not leave costs none. Others have paid their own. */
async function takeFee(
  { fuse }: ChainBackendParts,
  { transaction, sponsored }: InspectedPayment,
  step: SettleStep,
): Promise<SettleStep> {
  if (!sponsored) return step;
  const giveBack = await fuse.take(networkFeeOf(transaction));
  return {
    ...step,
    async recordBroadcast(broadcast) {
      const isOurs = await step.recordBroadcast(broadcast);
      if (!isOurs) giveBack();
      return isOurs;
    },
    withdrawBroadcast() {
      giveBack();
      return step.withdrawBroadcast();
    },
  };
}

async function settle(
  parts: ChainBackendParts,
  verified: VerifiedCache,
  inspected: InspectedPayment,
  held: SettleStep,
): Promise<BackendSettlement> {
  const { transaction, terms, payer } = inspected;
  const mintFault = await checkMint(parts, inspected);
  if (mintFault !== undefined) return unsent(mintFault, payer);
  // Behind everything that may still turn the payment away unsigned: such a payment costs nothing, and must not count.
  const step = await takeFee(parts, inspected, held);
  const signed = sign(parts, inspected);
  if (signed === undefined) return unsent('invalid_exact_svm_fee_payer_not_managed_by_facilitator', payer);
  const signature = firstSignature(signed, transaction);
  const height = heightOf(parts.blockhashes.lastValidBlockHeightOf(transaction.blockhash));
  if (!(await step.recordBroadcast({ signature, ...height }))) return unsent('settlement_in_progress', payer);
  const landing = await send(parts.delivery, step, {
    transaction: signed,
    signature,
    blockhash: transaction.blockhash,
    commitment: step.commitment,
    preflight: true,
    timeoutMs: timeoutFor(parts, terms),
    ...height,
  });
  if (landing.status !== 'rejected') return settlementOf(landing, inspected, signature, parts.landed);
  if (landing.err === 'AlreadyProcessed' && inspected.judge !== undefined) {
    return watch(parts, inspected, { signature, blockhash: transaction.blockhash, ...height }, step);
  }
  // What the chain said before holds no longer; the next attempt must ask it again before anybody works for it.
  verified.delete(transaction.messageHash);
  // It went no further than the node, whatever comes of the question why.
  await step.withdrawBroadcast();
  return rejectedSettlement(landing.err, inspected, parts.rpc);
}

async function checkMint(
  { mintPolicy }: ChainBackendParts,
  { transfer }: InspectedPayment,
): Promise<Reason | undefined> {
  return transfer === undefined ? undefined : online(mintPolicy(transfer.mint, transfer.program));
}

/** A payer that pays the network fee itself has signed everything already. What was sent before is the same bytes again, at no further cost. */
function sign({ feePayers }: ChainBackendParts, inspected: InspectedPayment): Uint8Array | undefined {
  const { transaction, terms, sponsored } = inspected;
  return sponsored ? feePayers.get(terms.feePayer ?? '')?.sign(transaction) : transaction.bytes;
}

async function send(delivery: TransactionDelivery, step: SettleStep, what: Delivery): Promise<Landing> {
  try {
    return await delivery.deliver(what);
  } catch (error) {
    // Any other error says nothing about whether the transaction left: the note stays, and the next attempt asks the chain.
    if (!(error instanceof RpcError)) throw error;
    await step.withdrawBroadcast();
    throw unavailable('The Solana RPC cannot be reached at the moment; nothing was charged.', error);
  }
}

async function resume(
  parts: ChainBackendParts,
  inspected: InspectedPayment,
  record: PaymentRecord,
  step: SettleStep,
): Promise<BackendSettlement> {
  const { signature, blockhash } = record;
  const { transaction } = inspected;
  if (signature === undefined) throw new Error(`payment ${record.id} was sent without its signature being recorded`);
  const height = heightOf(record.lastValidBlockHeight);
  // The same message has the same signature of ours. One that bears another signature of its payer is another transaction.
  const signed = sign(parts, inspected);
  const isSame = signed !== undefined && firstSignature(signed, transaction) === signature;
  const again = isSame ? { transaction: signed } : {};
  return watch(parts, inspected, { signature, blockhash, ...height, ...again }, step);
}

async function watch(
  parts: ChainBackendParts,
  inspected: InspectedPayment,
  sent: Omit<SentDelivery, 'commitment' | 'timeoutMs'>,
  { commitment }: SettleStep,
): Promise<BackendSettlement> {
  const timeoutMs = timeoutFor(parts, inspected.terms);
  const landing = await parts.delivery.watch({ ...sent, commitment, timeoutMs }).catch(unknownInOutage);
  return settlementOf(landing, inspected, sent.signature, parts.landed);
}

function timeoutFor({ settleTimeoutMs }: ChainBackendParts, terms: Terms): number {
  return Math.min(terms.maxTimeoutSeconds * 1000, settleTimeoutMs);
}

function firstSignature(signed: Uint8Array, { signaturesOffset }: DecodedTransaction): string {
  return signatureText(signed.subarray(signaturesOffset, signaturesOffset + 64));
}

function heightOf(lastValidBlockHeight: number | undefined): { readonly lastValidBlockHeight?: number } {
  return lastValidBlockHeight === undefined ? {} : { lastValidBlockHeight };
}
