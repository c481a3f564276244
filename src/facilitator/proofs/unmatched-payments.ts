import { TollhouseError } from '../../errors/errors.js';
import { boundedCache } from '../../lib/bounded-cache.js';
import type { Reason } from '../../protocol/reasons.js';
import type { Receipt } from '../../protocol/types.js';
import { moneyGainedBy } from '../../solana/landed/landed-money.js';
import { type Received, receivedIn } from '../../solana/landed/received.js';
import type { LandedTransaction } from '../../solana/rpc/landed-transaction.js';
import type { PaymentRequestRecord } from '../../storage/ledger/payment-request.js';
import { online } from '../backend/chain-landing.js';
import { isSentSuspended } from '../backend/refuse-suspended.js';
import { resourceOf } from '../payments/payment-binding.js';
import { receiptOf } from '../payments/receipt.js';
import { readPaid } from './read-paid.js';
import { type RequestParts, requestTransfers } from './request-terms.js';

/** Money that came with the reference of a payment request and does not pay it: a person has to look at it. */
export interface UnmatchedPayment {
  /** Base58. */
  readonly signature: string;
  /** Why it does not pay. */
  readonly reason: Reason;
  /** What it brought to the recipients of the request, of whatever token. */
  readonly received: readonly Received[];
}

/** What came for a request beside its price. */
export interface BesidePrice {
  /** What the payment brought to the recipients beyond the price, atomic units. */
  readonly surplus: bigint;
  readonly unmatched: readonly UnmatchedPayment[];
}

/** The payment of a request, as far as there is one. */
export interface KnownPaying {
  readonly signature?: string;
  readonly receipt?: Receipt;
}

/** Looks for it on the chain. In an outage it finds nothing: what a request stands at is told without. */
export type ReadBesidePrice = (request: PaymentRequestRecord, paying: KnownPaying) => Promise<BesidePrice>;

/** Hears what was found for a request, and of the payment that it was found beside. Must not reject. */
export type TellBeside = (
  request: PaymentRequestRecord,
  receipt: Receipt | undefined,
  beside: BesidePrice,
) => Promise<void>;

/** Of the transactions that name a reference, so many are looked at, the oldest first. Anybody can name it. */
const LOOKED_AT = 20;
/** How long a look is believed: whoever polls costs one in that time. */
const BELIEVED_MS = 5_000;
const BELIEVED_MAX = 10_000;
const NOTHING: BesidePrice = { surplus: 0n, unmatched: [] };

/**
 * Makes a reader that changes nothing: what it finds is booked for nobody, and buys nothing.
 * @param tell - hears of what was found
 */
export function createReadBesidePrice(parts: RequestParts, tell: TellBeside): ReadBesidePrice {
  const believed = boundedCache<string, BesidePrice>({ max: BELIEVED_MAX, ttl: BELIEVED_MS });

  async function read(request: PaymentRequestRecord, paying: KnownPaying): Promise<BesidePrice> {
    const history = await online(parts.rpc.getHistory(request.reference));
    const others = history.filter(({ failed, signature }) => !failed && signature !== paying.signature).reverse();
    const found = await Promise.all(
      others.slice(0, LOOKED_AT).map(({ signature }) => readUnmatched(parts, request, signature, paying)),
    );
    const beside = { surplus: await surplusOf(parts, request, paying), unmatched: found.flatMap((it) => it ?? []) };
    await tell(request, paying.receipt, beside);
    return beside;
  }

  return async (request, paying) => {
    const key = `${request.id} ${paying.signature ?? ''}`;
    const known = believed.get(key);
    if (known !== undefined) return known;
    const beside = await read(request, paying).catch((error: unknown) => {
      if (error instanceof TollhouseError) return NOTHING;
      throw error;
    });
    // Of an outage too, so that who polls a settled payment does not wait for the chain each time.
    believed.set(key, beside);
    return beside;
  };
}

/** What a transaction brought to the recipients of a request. */
export function receivedFor({ legs }: PaymentRequestRecord, landed: LandedTransaction): readonly Received[] {
  const recipients = new Set(legs.map(({ recipient }) => recipient));
  return receivedIn(landed).filter(({ to }) => recipients.has(to));
}

async function readUnmatched(
  parts: RequestParts,
  request: PaymentRequestRecord,
  signature: string,
  paying: KnownPaying,
): Promise<UnmatchedPayment | undefined> {
  const landed = await parts.landed(signature);
  if (landed === undefined) return undefined;
  const received = receivedFor(request, landed);
  if (received.length === 0) return undefined;
  const reason = await reasonOf(parts, request, landed, paying);
  return reason && { signature, reason, received };
}

/** Undefined where it pays the request, or will be found to do so by the next look for what pays it. */
async function reasonOf(
  parts: RequestParts,
  request: PaymentRequestRecord,
  landed: LandedTransaction,
  { receipt }: KnownPaying,
): Promise<Reason | undefined> {
  const record = await parts.ledger.find(landed.messageHash);
  if (record !== undefined && receiptOf(record) !== undefined) {
    return resourceOf(record) === request.id ? undefined : 'duplicate_settlement';
  }
  const paid = readPaid(landed, requestTransfers(request));
  if (!paid.ok) return paid.reason;
  if (await isSentSuspended(parts, paid.payer, landed)) return 'wallet_suspended';
  return receipt === undefined ? undefined : 'invalid_transfer_already_paid';
}

async function surplusOf(
  { landed: read }: Pick<RequestParts, 'landed'>,
  { legs }: PaymentRequestRecord,
  { receipt }: KnownPaying,
): Promise<bigint> {
  if (receipt === undefined) return 0n;
  const landed = await read(receipt.signature);
  if (landed === undefined) return 0n;
  const owed = new Map<string, bigint>();
  for (const { recipient, amount } of legs) owed.set(recipient, (owed.get(recipient) ?? 0n) + amount);
  const beyond = [...owed].map(([recipient, amount]) => {
    const gained = moneyGainedBy(landed, recipient, receipt.asset) ?? amount;
    return gained > amount ? gained - amount : 0n;
  });
  return beyond.reduce((sum, it) => sum + it, 0n);
}
