import type { LRUCache } from 'lru-cache';
import { boundedCache } from '../../lib/bounded-cache.js';
import { defined } from '../../lib/defined.js';
import { isPending, type MaybePromise, whenKnown } from '../../lib/maybe-promise.js';
import { REASONS } from '../../protocol/reasons.js';
import type { Refusal, Terms, Verification } from '../../protocol/types.js';
import type { BlockhashCache } from '../../solana/confirmation/blockhash-cache.js';
import type { Delivery, Landing, SentDelivery, TransactionDelivery } from '../../solana/confirmation/confirmation.js';
import { createSignatureHistory } from '../../solana/confirmation/signature-history.js';
import { RpcError } from '../../solana/rpc/rpc.js';
import type { CheckPolicy } from '../../solana/rules/rules.js';
import type { PaymentRecord } from '../../storage/ledger/ledger.js';
import type {
  BackendSettlement,
  InspectedPayment,
  PaymentPurpose,
  SettlementBackend,
  SettleStep,
} from '../backend/backend.js';
import { online, settlementOf, unknownInOutage } from '../backend/chain-landing.js';
import { inspectPayment, policyFor } from '../backend/inspect-payment.js';
import type { LandedReader } from '../backend/landed-reader.js';
import { unavailable, unsent } from '../backend/outcomes.js';
import { isFromBackup, isLostByRestore } from '../payments/lost-period.js';
import { sponsoredEnd } from '../sponsorship/outcomes.js';
import type { LookAtFunds, Sponsorship } from '../sponsorship/sponsorship.js';
import {
  checkMint,
  checkUnseen,
  guardsToProve,
  type LookParts,
  lookAtFunds,
  type VerifiedCache,
} from './look-at-funds.js';
import { createNodeLag } from './node-lag.js';
import { createOffered, type OfferedParts } from './offered.js';
import { hasLandedSince, judgeRefusal, notTaken } from './refused-send.js';
import { type FaultParts, firstSignature, signedBy, whyNotTaken } from './why-not-taken.js';

/** What the embedded facilitator works with. */
export interface ChainBackendParts extends LookParts, OfferedParts {
  readonly delivery: TransactionDelivery;
  readonly blockhashes: BlockhashCache;
  readonly policy: CheckPolicy;
  /** Reads transactions that have landed. */
  readonly landed: LandedReader;
  /** What they risk with payments that are under way. */
  readonly sponsorship: Sponsorship;
  /** Longest wait for a settlement, in milliseconds. */
  readonly settleTimeoutMs: number;
  /** Since when the ledger remembers every payment; missing where it does not forget. Milliseconds since the epoch. */
  readonly remembersSince?: number | undefined;
  /** Until when it remembers everything from before that; missing where that is nothing. */
  readonly remembersUntil?: number | undefined;
}

/** A passed simulation serves the settlement that follows it; the send's preflight catches what changed meanwhile. */
const VERIFIED_MS = 30_000;
const VERIFIED_MAX = 10_000;
/** Of a blockhash that is none of ours, it is not known how long it lives. */
const NO_HEIGHT = {};
/** More than are sent while a blockhash lives. */
const OVER_MAX = 50_000;

/** What the functions of the backend work with. */
interface WorkingParts extends ChainBackendParts, FaultParts {
  /** Payments of which this process has known the outcome, by the hashes of their messages. */
  readonly over: LRUCache<string, true>;
}

/** Verifies and settles on the chain, with fee payers of our own. */
export function createChainBackend(given: ChainBackendParts): SettlementBackend {
  const { network, rpc, delivery, blockhashes, policy, sponsorship } = given;
  const parts: WorkingParts = {
    over: boundedCache({ max: OVER_MAX }),
    history: createSignatureHistory(rpc),
    nodeLag: createNodeLag(rpc),
    ...given,
  };
  const offered = createOffered(parts);
  const verified: VerifiedCache = boundedCache({ max: VERIFIED_MAX, ttl: VERIFIED_MS });
  return {
    supported: async () => offered(),
    supportedNow: offered,
    inspect: async (payment, terms, sentBy) => inspectPayment(payment, terms, network, policyFor(policy, sentBy)),
    verify: (inspected, purpose) => verify(parts, verified, inspected, purpose),
    settle: (inspected, step) => settle(parts, verified, inspected, step),
    resume: (inspected, record, step) => resume(parts, inspected, record, step),
    drop: (id) => sponsorship.drop(id),
    blockhash: async () => (await online(blockhashes.latest())).blockhash,
    async close() {
      await delivery.close();
      blockhashes.close();
      await rpc.close();
    },
  };
}

async function verify(
  parts: WorkingParts,
  verified: VerifiedCache,
  inspected: InspectedPayment,
  purpose: PaymentPurpose | undefined,
): Promise<Verification> {
  const { payer, sponsored } = inspected;
  const { sponsorship } = parts;
  if (sponsored) {
    // Who only asks whether a payment is good is a server elsewhere.
    const refusal = await sponsorship.admit(inspected, purpose ?? { isPublic: true });
    if (refusal !== undefined) return { ok: false, payer, ...refusal };
  }
  const look = (): ReturnType<LookAtFunds> => lookAtFunds(parts, verified, inspected);
  // The message alone decides a simulation; the terms were compared with it by the pure rules.
  const known = verified.get(inspected.transaction.messageHash);
  const seen = known === undefined ? await look() : { ok: true as const, sight: known };
  if (!seen.ok) return { ok: false, payer, ...seen.refusal };
  if (!sponsored) return { ok: true, payer };
  const refusal = await sponsorship.checkFunds(inspected, seen.sight, look, purpose !== undefined);
  return refusal === undefined ? { ok: true, payer } : { ok: false, payer, ...refusal };
}

/** What is signed at our cost is watched until its outcome is known; whatever ends before it is sent leaves no trace. */
async function settle(
  parts: WorkingParts,
  verified: VerifiedCache,
  inspected: InspectedPayment,
  step: SettleStep,
): Promise<BackendSettlement> {
  const { transaction, payer, sponsored } = inspected;
  const { sponsorship } = parts;
  try {
    const look = (): ReturnType<LookAtFunds> => lookAtFunds(parts, verified, inspected);
    const checking = step.refused ?? faultBefore(parts, verified, inspected);
    // The share of the fee comes behind everything that may still turn the payment away unsigned: such a payment costs nothing, and must not count.
    const refusal =
      (isPending(checking) ? await checking : checking) ??
      (sponsored ? await sponsorship.begin(inspected, step.purpose, look) : undefined);
    if (refusal !== undefined)
      return (await sentAndLanded(parts, inspected, step)) ?? { status: 'unsent', payer, ...refusal };
    const settlement = await signAndSend(parts, verified, inspected, step);
    // It was seen before it landed: whoever shows it again is to be seen again.
    verified.delete(transaction.messageHash);
    return concluded(parts, inspected, settlement);
  } finally {
    sponsorship.drop(transaction.messageHash);
  }
}

/** What became of a payment that was taken for unsent and has landed all the same: simulated again, it fails. */
async function sentAndLanded(
  parts: WorkingParts,
  inspected: InspectedPayment,
  step: SettleStep,
): Promise<BackendSettlement | undefined> {
  const { transaction, payer } = inspected;
  const before = await step.sentBefore?.();
  const signed = before?.by === 'same' ? signedBy(parts.feePayers, inspected) : undefined;
  if (before?.by !== 'same' || signed === undefined) return undefined;
  const sent = { signature: firstSignature(signed, transaction), blockhash: transaction.blockhash };
  if (!(await hasLandedSince(parts.landed, sent.signature, before))) return undefined;
  if (!(await step.recordBroadcast(sent))) return unsent('settlement_in_progress', payer);
  return concluded(parts, inspected, await watch(parts, inspected, sent, step));
}

/**
 * Who settles without having verified leaves the simulation to the node that sends, which is too late where a guard has to
 * be proven first, and does not show whose the account is that is paid into.
 */
function faultBefore(
  parts: WorkingParts,
  verified: VerifiedCache,
  inspected: InspectedPayment,
): MaybePromise<Omit<Refusal, 'payer'> | undefined> {
  const isSeen = verified.has(inspected.transaction.messageHash);
  if (!isSeen && guardsToProve(inspected).length > 0) {
    return lookAtFunds(parts, verified, inspected).then((seen) => (seen.ok ? undefined : seen.refusal));
  }
  return whenKnown(
    isSeen ? checkMint(parts, inspected) : checkUnseen(parts, inspected),
    (reason) => reason && { reason, message: REASONS[reason] },
  );
}

async function signAndSend(
  parts: WorkingParts,
  verified: VerifiedCache,
  inspected: InspectedPayment,
  step: SettleStep,
): Promise<BackendSettlement> {
  const { transaction, terms, payer } = inspected;
  const signed = signedBy(parts.feePayers, inspected);
  if (signed === undefined) return unsent('invalid_exact_svm_fee_payer_not_managed_by_facilitator', payer);
  const signature = firstSignature(signed, transaction);
  const lastValidBlockHeight = parts.blockhashes.lastValidBlockHeightOf(transaction.blockhash);
  const height = lastValidBlockHeight === undefined ? NO_HEIGHT : { lastValidBlockHeight };
  if (!(await step.recordBroadcast({ signature, ...height }))) return unsent('settlement_in_progress', payer);
  parts.sponsorship.sent(transaction.messageHash, signature);
  const sentAt = performance.now();
  const sent = { signature, blockhash: transaction.blockhash, ...height };
  const landing = await send(parts, inspected, step, {
    transaction: signed,
    commitment: step.commitment,
    preflight: true,
    timeoutMs: timeoutFor(parts, terms),
    ...sent,
  });
  if (landing.status !== 'rejected') return settlementOf(landing, inspected, signature, parts.landed);
  const refused = {
    signature,
    sentAt,
    isOver: parts.over.has(transaction.messageHash),
    before: await step.sentBefore?.(),
  };
  const verdict = await judgeRefusal(parts, verified, inspected, refused, landing);
  if (verdict.status === 'landed') return watch(parts, inspected, sent, step);
  if (verdict.status === 'may_land') return watch(parts, inspected, { ...sent, transaction: signed }, step);
  // What the chain said before holds no longer; the next attempt must ask it again before anybody works for it.
  verified.delete(transaction.messageHash);
  // It is nowhere, whatever comes of the question why.
  parts.sponsorship.ended(transaction.messageHash, payer, { status: 'unsent' });
  // What the chain knew already, others have made to land.
  await step.notSent(verdict.err !== 'AlreadyProcessed');
  return { status: 'unsent', payer, ...(await whyNotTaken(parts, inspected, verdict)) };
}

/** Tells how a payment ended to what keeps count of our risk, where its fee is ours. */
function concluded(
  { sponsorship, over }: WorkingParts,
  { transaction, payer, sponsored }: InspectedPayment,
  settlement: BackendSettlement,
): BackendSettlement {
  if (settlement.status === 'settled' || settlement.status === 'failed') over.set(transaction.messageHash, true);
  const end = sponsoredEnd(settlement);
  if (sponsored && end !== undefined) sponsorship.ended(transaction.messageHash, payer, end);
  return settlement;
}

async function send(
  { delivery, sponsorship }: ChainBackendParts,
  { transaction, payer }: InspectedPayment,
  step: SettleStep,
  what: Delivery,
): Promise<Landing> {
  try {
    return await delivery.deliver(what);
  } catch (error) {
    // Any other error says nothing about whether the transaction left: the note stays, and the next attempt asks the chain.
    if (!(error instanceof RpcError)) throw error;
    if (error.failure === 'answer') throw notTaken(error);
    sponsorship.ended(transaction.messageHash, payer, { status: 'unsent' });
    await step.notSent();
    throw unavailable('The Solana RPC cannot be reached at the moment; nothing was charged.', error);
  }
}

async function resume(
  parts: WorkingParts,
  inspected: InspectedPayment,
  record: PaymentRecord,
  step: SettleStep,
): Promise<BackendSettlement> {
  const { signature, blockhash } = record;
  const { transaction } = inspected;
  if (signature === undefined) throw new Error(`payment ${record.id} was sent without its signature being recorded`);
  const height = defined({ lastValidBlockHeight: record.lastValidBlockHeight });
  // The same message has the same signature of ours. One that bears another signature of its payer is another transaction.
  const signed = signedBy(parts.feePayers, inspected);
  const isSame = signed !== undefined && firstSignature(signed, transaction) === signature;
  const again = isSame ? { transaction: signed } : {};
  if (inspected.sponsored) parts.sponsorship.resumed(inspected, signature);
  const settlement = await watch(parts, inspected, { signature, blockhash, ...height, ...again }, step);
  return concluded(parts, inspected, await unlessLost(parts, record, settlement));
}

/** What was brought again after a backup was restored, and had landed before, may have been used then. */
async function unlessLost(
  parts: ChainBackendParts,
  record: PaymentRecord,
  settlement: BackendSettlement,
): Promise<BackendSettlement> {
  if (settlement.status !== 'settled' || parts.remembersUntil === undefined || isFromBackup(parts, record))
    return settlement;
  const { blockTime } = (await parts.landed(settlement.receipt.signature)) ?? {};
  return isLostByRestore(parts, blockTime) ? unsent('duplicate_settlement', record.payer) : settlement;
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
