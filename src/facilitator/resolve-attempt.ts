import { randomUUID } from 'node:crypto';
import type { PaymentRecord, PaymentRequestRecord } from '../storage/ledger.js';
import { online, settlementOf } from './chain-landing.js';
import { judgeOf, type RequestParts } from './request-terms.js';
import { writeDown } from './settle.js';

const WAIT_MS = 1_500;
const LEASE_MS = 30_000;

/**
 * Finds out what became of a transaction that was sent for a request and whose outcome nobody is waiting for any more, so
 * that a caller who went away does not keep the request pending for ever. One that is being waited for is left alone.
 */
export async function resolveAttempt(
  parts: RequestParts,
  request: PaymentRequestRecord,
  { id, binding, payer, terms, blockhash }: PaymentRecord,
): Promise<void> {
  const { ledger, delivery } = parts;
  const lease = randomUUID();
  const { status, record } = await ledger.claim({ id, binding, payer, terms, blockhash, lease, leaseMs: LEASE_MS });
  if (status !== 'won') return;
  try {
    const { state, signature, lastValidBlockHeight: height } = record;
    if (state === 'broadcast' && signature !== undefined) {
      const lives = height === undefined ? {} : { lastValidBlockHeight: height };
      const wait = { signature, blockhash, commitment: 'confirmed', timeoutMs: WAIT_MS, ...lives } as const;
      const judged = { payer, terms, judge: judgeOf(request) };
      const settlement = await settlementOf(await online(delivery.watch(wait)), judged, signature, parts.landed);
      await writeDown({ ...parts, record, lease, resource: request.id }, settlement);
      if (settlement.status === 'settled') await ledger.complete(id, lease);
    }
  } finally {
    await ledger.release(id, lease);
  }
}
