import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { readLandedPayment } from '../solana/landed-payment.js';
import { decodeTransaction } from '../solana/transaction.js';
import type { PaymentRequestRecord } from '../storage/ledger.js';
import { online } from './chain-landing.js';
import { bindingOf } from './payment-desk.js';
import { demandOf, type RequestParts, termsOf } from './request-terms.js';
import { writeDown } from './settle.js';

/** Looks on the chain for a transaction that pays a request; answers the id of the payment, written down, if there is one. */
export type WalletPayments = (request: PaymentRequestRecord) => Promise<string | undefined>;

/** Transactions that name a reference, of which so many are looked at each time. Anybody can name it. */
const LISTED = 1_000;
const LOOKED_AT = 10;
const DISMISSED_MAX = 50_000;
const LEASE_MS = 30_000;

interface Landed {
  readonly signature: string;
  readonly slot: number;
  readonly payer: string;
}

/**
 * A wallet that answers a Solana Pay request sends the transaction itself; the reference leads to it. The oldest come first:
 * who wants to hide a payment among others that name the reference is later than the payment.
 */
export function createWalletPayments(parts: RequestParts): WalletPayments {
  const dismissed = new LRUCache<string, true>({ max: DISMISSED_MAX });

  async function judge(request: PaymentRequestRecord, signature: string): Promise<string | 'dismissed' | undefined> {
    const landed = await parts.landed(signature);
    if (landed === undefined) return undefined;
    const paid = readLandedPayment(landed, demandOf(request));
    return paid.ok ? recordLanded(parts, request, { signature, slot: landed.slot, payer: paid.payer }) : 'dismissed';
  }

  return async (request) => {
    const listed = await online(parts.rpc.getSignaturesForAddress(request.reference, LISTED));
    const keyOf = (signature: string): string => `${request.id} ${signature}`;
    const fresh = [...listed].reverse().filter((signature) => !dismissed.has(keyOf(signature)));
    for (const signature of fresh.slice(0, LOOKED_AT)) {
      const verdict = await judge(request, signature);
      if (verdict === 'dismissed') dismissed.set(keyOf(signature), true);
      else if (verdict !== undefined) return verdict;
    }
    return undefined;
  };
}

/**
 * A payment that landed without us is claimed like any other, so that it pays one thing only, and used up by the request
 * that it pays. Undefined while somebody else holds it, or another one is on its way.
 */
async function recordLanded(
  parts: RequestParts,
  request: PaymentRequestRecord,
  { signature, slot, payer }: Landed,
): Promise<string | 'dismissed' | undefined> {
  const { ledger, rpc, policy } = parts;
  const bytes = await online(rpc.getTransactionBytes(signature));
  if (bytes === null) return undefined;
  const decoded = decodeTransaction(bytes);
  if (!decoded.ok) return 'dismissed';
  const { messageHash: id, blockhash } = decoded.transaction;
  const terms = termsOf(request, decoded.transaction, policy);
  const lease = randomUUID();
  const claim = { id, binding: bindingOf(request.id, terms), payer, terms, blockhash, lease, leaseMs: LEASE_MS };
  const { status, record } = await ledger.claim(claim);
  if (status !== 'won') return status === 'closed' ? 'dismissed' : undefined;
  try {
    if ((await ledger.attachAttempt(request.id, id)) === id) {
      const { network, payTo, asset, amount } = terms;
      const receipt = { signature, network, payer, payTo, asset, amount, slot };
      const held = { ...parts, record, lease, resource: request.id };
      if (record.state !== 'confirmed') await writeDown(held, { status: 'settled', receipt });
      await ledger.complete(id, lease);
      return id;
    }
    await ledger.release(id, lease);
    return undefined;
  } catch (error) {
    await ledger.release(id, lease);
    throw error;
  }
}
