import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Leg } from '../protocol/split.js';
import { type PlainTransfer, plainTransfers } from '../solana/plain-transfers.js';
import { decodeTransaction } from '../solana/transaction.js';
import type { PaymentRecord, PaymentRequestRecord, PaymentState } from '../storage/ledger.js';
import { online } from './chain-landing.js';
import type { PaymentRequestState, PaymentRequestStatus } from './payment-request-types.js';
import { receiptOf } from './settle.js';
import { type SettleRequestParts, termsOf } from './settle-request.js';

/** How long "no wallet has paid it yet" is believed, so that polling costs a call in two seconds and not one each. */
const UNSEEN_MS = 2_000;
const UNSEEN_MAX = 10_000;
/** Transactions that may name a reference; anybody can name it, so a few are looked at. */
const CANDIDATES = 5;
const LEASE_MS = 30_000;

const STATUS: Readonly<Record<PaymentState, PaymentRequestStatus>> = {
  claimed: 'pending',
  broadcast: 'pending',
  confirmed: 'settled',
  served: 'settled',
  failed: 'failed',
  expired: 'created',
};

/** Tells where payment requests stand, and notices those that a wallet paid by itself. */
export function createRequestStates(
  parts: SettleRequestParts,
): (id: string) => Promise<PaymentRequestState | undefined> {
  const unseen = new LRUCache<string, true>({ max: UNSEEN_MAX, ttl: UNSEEN_MS });
  return async (id) => {
    const request = await parts.ledger.findPaymentRequest(id);
    if (request === undefined) return undefined;
    const known = await stateOf(parts, request);
    if (known.status === 'settled' || known.status === 'pending' || unseen.has(id)) return known;
    const found = await findPaidBySelf(parts, request);
    if (found === undefined) {
      unseen.set(id, true);
      return known;
    }
    return stateOf(parts, { ...request, attempt: found });
  };
}

async function stateOf(
  { ledger, now }: SettleRequestParts,
  request: PaymentRequestRecord,
): Promise<PaymentRequestState> {
  const record = request.attempt === undefined ? undefined : await ledger.find(request.attempt);
  const status = record === undefined ? 'created' : STATUS[record.state];
  const receipt = record === undefined ? undefined : receiptOf(record);
  if (receipt !== undefined) return { request, status, receipt };
  const over = status === 'created' && now() > request.expiresAt;
  return { request, status: over ? 'expired' : status };
}

/** A wallet that answers a Solana Pay request sends the transaction itself; the reference leads to it. */
async function findPaidBySelf(parts: SettleRequestParts, request: PaymentRequestRecord): Promise<string | undefined> {
  const signatures = await online(parts.rpc.getSignaturesForAddress(request.reference, CANDIDATES));
  for (const signature of signatures) {
    const landed = await online(parts.rpc.getTransaction(signature, 'confirmed'));
    if (landed === null || landed.err !== null) continue;
    const paid = plainTransfers(landed).filter(({ asset }) => asset === request.token.mint);
    const [first] = paid;
    if (first !== undefined && paysAll(paid, request.legs)) {
      return recordLanded(parts, request, signature, { slot: landed.slot, payer: first.from });
    }
  }
  return undefined;
}

function paysAll(transfers: readonly PlainTransfer[], legs: readonly Leg[]): boolean {
  const open = [...transfers];
  return legs.every(({ recipient, amount }) => {
    const index = open.findIndex((it) => it.to === recipient && it.amount === amount);
    if (index === -1) return false;
    open.splice(index, 1);
    return true;
  });
}

/** A payment that landed without us is claimed like any other, and used up by the request that it pays. */
async function recordLanded(
  { ledger, events, rpc }: SettleRequestParts,
  request: PaymentRequestRecord,
  signature: string,
  { slot, payer }: Pick<PaymentRecord, 'payer'> & { readonly slot: number },
): Promise<string | undefined> {
  const bytes = await online(rpc.getTransactionBytes(signature));
  const decoded = bytes === null ? undefined : decodeTransaction(bytes);
  if (!decoded?.ok) return undefined;
  const { messageHash: id, blockhash } = decoded.transaction;
  const lease = randomUUID();
  const terms = termsOf(request, undefined);
  const { status } = await ledger.claim({ id, binding: request.id, payer, terms, blockhash, lease, leaseMs: LEASE_MS });
  if (status !== 'won') return undefined;
  if ((await ledger.attachAttempt(request.id, id)) !== id) {
    await ledger.release(id, lease);
    return undefined;
  }
  await ledger.recordOutcome(id, lease, { state: 'confirmed', slot, signature });
  await ledger.complete(id, lease);
  const { network, payTo, asset, amount } = terms;
  const receipt = { signature, network, payer, payTo, asset, amount, slot };
  events.emit('payment.settled', { id, resource: request.id, receipt });
  return id;
}
