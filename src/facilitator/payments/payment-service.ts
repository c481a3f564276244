import { REASONS, type Reason } from '../../protocol/reasons.js';
import type { Payment, Refusal, Settlement, Terms, Verification } from '../../protocol/types.js';
import { decodeTransaction } from '../../solana/transaction/transaction.js';
import type { PaymentRecord } from '../../storage/ledger/ledger.js';
import { withoutHost } from '../../storage/ledger/payment-use.js';
import type { Inspection } from '../backend/backend.js';
import type { Facilitator, OpenedPayment, PaymentUse, SettleOptions } from '../types.js';
import { claimInPlace, isDue } from './claim-in-place.js';
import { knownPayment } from './known-payment.js';
import { bindingOf } from './payment-binding.js';
import type { PaymentServiceParts } from './payment-life.js';
import { receiptOf } from './receipt.js';
import { isByIpAddress } from './retry-hash.js';

/** The resource of payments that are settled for a server elsewhere. */
const SETTLE_ONLY = 'settle';

/** The part of a facilitator that holds, settles and completes payments. */
export type PaymentService = Pick<
  Facilitator,
  'verify' | 'knownTerms' | 'admittedWith' | 'isBuying' | 'landed' | 'knownPayment' | 'openPayment' | 'settle'
>;

/**
 * Every payment comes here, whichever way it came in and whoever settles it. The order is fixed: rules that cost nothing,
 * the claim, the chain. So one transaction is served once, and a bad one costs no call.
 */
export function createPaymentService(parts: PaymentServiceParts): PaymentService {
  return {
    verify: (payment, terms, client) => verifyPayment(parts, payment, terms, client),
    async knownTerms(payment) {
      const record = await recordOf(parts, payment);
      return record?.state === 'claimed' ? undefined : record?.terms;
    },
    async admittedWith(payment, { retryHash, fingerprint }) {
      const record = await recordOf(parts, payment);
      // An address is no secret: others have it who were never let in.
      if (record?.admitted === undefined || record.retryHash !== retryHash || isByIpAddress(retryHash))
        return undefined;
      if (record.fingerprint === undefined) return undefined;
      return withoutHost(record.fingerprint) === (await fingerprint()) ? record.admitted : undefined;
    },
    async isBuying({ wallet, site, scopes }) {
      const purchases = await parts.ledger.openPurchases(wallet);
      return purchases.some(({ buys }) => buys?.site === site && scopes.includes(buys.scope));
    },
    async landed(paymentId) {
      const record = await parts.ledger.find(paymentId);
      const receipt = record && receiptOf(record);
      return record === undefined || receipt === undefined ? undefined : { terms: record.terms, receipt };
    },
    knownPayment: (paymentId) => knownPayment(parts, paymentId),
    openPayment: (payment, terms, use) => openPayment(parts, payment, terms, use),
    settle: (payment, terms, options) => settlePayment(parts, payment, terms, options),
  };
}

async function recordOf({ ledger }: PaymentServiceParts, { transaction }: Payment): Promise<PaymentRecord | undefined> {
  const decoded = decodeTransaction(transaction);
  return decoded.ok ? ledger.find(decoded.transaction.messageHash) : undefined;
}

/** What is refused for a key or a bound of ours, and not for what the payment does. */
const OF_OUR_POLICY: ReadonlySet<Reason> = new Set([
  'invalid_exact_svm_fee_payer_not_managed_by_facilitator',
  'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high',
]);

/** The rules. Keys are taken out, and bounds lowered, while people come again for what they have paid under the ones before. */
async function inspectFor(parts: PaymentServiceParts, payment: Payment, terms: Terms): Promise<InspectionFor> {
  const inspection = await parts.backend.inspect(payment, terms);
  if (inspection.ok || !OF_OUR_POLICY.has(inspection.refusal.reason)) return inspection;
  const record = await recordOf(parts, payment);
  if (record === undefined || record.state === 'claimed') return inspection;
  const then = await parts.backend.inspect(payment, terms, record.terms.feePayer);
  return { refusedToday: inspection.refusal, ...then };
}

/** What came of the rules, and what they have against it today where it was let through as one that was sent. */
type InspectionFor = Inspection & { readonly refusedToday?: Refusal };

async function verifyPayment(
  parts: PaymentServiceParts,
  payment: Payment,
  terms: Terms,
  client: string | undefined,
): Promise<Verification> {
  const { backend, inFlight, leases, ledger } = parts;
  const inspection = await inspectFor(parts, payment, terms);
  if (!inspection.ok) return { ok: false, ...inspection.refusal };
  const { payer, transaction } = inspection.inspected;
  const record = await ledger.find(transaction.messageHash);
  if (record === undefined || record.state === 'claimed') {
    const verify = () => backend.verify(inspection.inspected);
    // What is held here has its place already.
    return leases.holds(transaction.messageHash) ? verify() : inFlight.during({ payer, client }, verify);
  }
  // A settlement whose outcome was not known can be asked for again, and servers verify before they settle.
  const unfinished = record.state === 'broadcast' || record.state === 'confirmed';
  if (unfinished && record.binding === bindingOf(SETTLE_ONLY, terms)) return { ok: true, payer };
  return { ok: false, reason: 'duplicate_settlement', message: REASONS.duplicate_settlement, payer };
}

async function openPayment(
  parts: PaymentServiceParts,
  payment: Payment,
  terms: Terms,
  use: PaymentUse,
): Promise<OpenedPayment> {
  // The signature alone takes longer to check than all else of what is turned away.
  await parts.inFlight.mustHaveRoom(use.client, async () => {
    const decoded = decodeTransaction(payment.transaction);
    return decoded.ok && isDue(parts, decoded.transaction.messageHash);
  });
  const inspection = await inspectFor(parts, payment, terms);
  if (!inspection.ok) return { status: 'refused', refusal: inspection.refusal };
  const opened = await claimInPlace(parts, inspection.inspected, use);
  const { refusedToday } = inspection;
  if (refusedToday === undefined || opened.status !== 'open' || opened.claim.mayBeSent) return opened;
  // It was found not to have been sent meanwhile, and is a new one.
  await opened.claim.forget();
  return { status: 'refused', refusal: refusedToday };
}

async function settlePayment(
  parts: PaymentServiceParts,
  payment: Payment,
  terms: Terms,
  { deliver = async () => true, ...who }: SettleOptions = {},
): Promise<Settlement> {
  const opened = await openPayment(parts, payment, terms, { resource: SETTLE_ONLY, isPublic: true, ...who });
  if (opened.status !== 'open') {
    const settlement = unopened(opened);
    await deliver(settlement);
    return settlement;
  }
  const { claim } = opened;
  const settlement = await claim.settle();
  const arrived = await deliver(settlement).catch(async (error: unknown) => {
    if (settlement.status === 'settled') await claim.keep();
    throw error;
  });
  if (settlement.status === 'settled') await (arrived ? claim.served() : claim.keep());
  return settlement;
}

function unopened(opened: Exclude<OpenedPayment, { readonly status: 'open' }>): Settlement {
  if (opened.status === 'refused') return { status: 'failed', ...opened.refusal };
  if (opened.status === 'pending') return opened.settlement;
  if (opened.status === 'in_progress') return refusal('settlement_in_progress');
  // Whoever asks on these terms and has lost the response learns where the money is.
  return { ...refusal('duplicate_settlement'), ...(opened.receipt && { signature: opened.receipt.signature }) };
}

function refusal(reason: Reason): Extract<Settlement, { readonly status: 'failed' }> {
  return { status: 'failed', reason, message: REASONS[reason] };
}
