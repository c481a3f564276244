import type { Commitment } from '../../protocol/types.js';
import type { PaymentRecord } from '../../storage/ledger/ledger.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import type { Recovered } from '../events/events.js';
import { isFromBackup, isLostByRestore } from '../payments/lost-period.js';
import { resourceOf } from '../payments/payment-binding.js';
import { letGo } from '../payments/payment-claim.js';
import { writeDown } from '../payments/payment-life.js';
import { finishRequest, type RequestParts, TRANSFER_SCHEME } from '../proofs/request-terms.js';
import { outcomeOfSent } from './sent-payment.js';

type End = keyof Recovered;

/** So many are asked for together. */
const BATCH = 100;
/** Between two looks at the same payment, whichever instance looks. */
const REST_MS = 10_000;

/**
 * Makes the function that looks after payments which were sent and then left alone: by a process that died, by a payer who
 * went away while the outcome was open. The chain says what became of each, and that is written down like any other
 * outcome. Several instances share the work. Nothing is served here: a payment that has landed stays good for what it bought, and its pass is opened.
 */
export function createRecovery(parts: RequestParts): () => Promise<Recovered> {
  const { ledger, network } = parts;

  return async () => {
    const ends: End[] = [];
    for (;;) {
      const records = await ledger.takeUnresolved({ network, restMs: REST_MS, limit: BATCH });
      const found = await Promise.all(records.map((record) => resolve(parts, record)));
      ends.push(...found);
      // Of a chain that tells nothing, the next hundred are not to be asked either.
      if (records.length < BATCH || found.every((end) => end === 'open')) break;
    }
    const count = (end: End): number => ends.filter((it) => it === end).length;
    return { settled: count('settled'), failed: count('failed'), expired: count('expired'), open: count('open') };
  };
}

/**
 * Asks the chain what became of one such payment, and writes that down.
 * @param asked - how far it must have come, where that is known. Default: as far as any route can ask
 */
export async function resolve(
  parts: RequestParts,
  record: PaymentRecord,
  asked: Commitment = 'finalized',
): Promise<End> {
  const { signature, terms } = record;
  const isRequested = terms.scheme === TRANSFER_SCHEME;
  const request = isRequested ? await parts.ledger.findPaymentRequest(resourceOf(record)) : undefined;
  if (signature === undefined || (isRequested && request === undefined)) return 'open';
  const commitment = isRequested ? 'confirmed' : asked;
  const settlement = await outcomeOfSent(parts, { record, signature, request, commitment });
  if (settlement.status !== 'settled' && settlement.status !== 'failed') return 'open';
  const isWritten = await writeOutcome(parts, record, request, settlement);
  if (!isWritten) return 'open';
  return settlement.status === 'settled' ? 'settled' : settlement.final;
}

/** Holds the payment for a moment; where its payer has come again meanwhile, that request writes the outcome down. */
async function writeOutcome(
  parts: RequestParts,
  taken: PaymentRecord,
  request: PaymentRequestRecord | undefined,
  settlement: Parameters<typeof writeDown>[1],
): Promise<boolean> {
  const { ledger, leases } = parts;
  const lease = ledger.newLease();
  const { id } = taken;
  const { status, record } = await ledger.claim({ ...taken, lease, leaseMs: leases.leaseMs });
  if (status !== 'won') return false;
  try {
    if (record.state !== 'broadcast') return false;
    const served = await mayBeUsed(parts, record);
    await writeDown({ ...parts, record, lease, resource: resourceOf(record), served }, settlement);
    if (settlement.status === 'settled' && request !== undefined) await finishRequest(parts, request, id, lease);
    return true;
  } finally {
    await letGo(ledger, record, lease);
  }
}

/** Whether it may have been used already: it was sent when a backup was made that was restored, or brought again and had landed before. */
async function mayBeUsed({ ledger, landed }: RequestParts, record: PaymentRecord): Promise<boolean> {
  if (ledger.remembersUntil === undefined || isFromBackup(ledger, record)) return ledger.remembersUntil !== undefined;
  return isLostByRestore(ledger, (await landed(record.signature ?? ''))?.blockTime);
}
