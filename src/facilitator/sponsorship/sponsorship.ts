import { setTimeout } from 'node:timers/promises';
import { boundedCache } from '../../lib/bounded-cache.js';
import { isPending } from '../../lib/maybe-promise.js';
import type { Refusal } from '../../protocol/types.js';
import type { SolanaRpc } from '../../solana/rpc/rpc.js';
import { networkFeeOf } from '../../solana/transaction/network-fee.js';
import type { InspectedPayment, PaymentPurpose } from '../backend/backend.js';
import type { CountedFee, FeeLimit } from './fee-limit.js';
import type { FeeParties } from './fee-shares.js';
import { createLandings, type Landings } from './landings.js';
import type { MoneyInFlight, Sight, SpendingPayment } from './money-in-flight.js';
import type { PayerStanding } from './payer-standing.js';
import type { SendWindow } from './send-window.js';
import { spendingOf, UNKEYED } from './spending.js';

/** Why nothing is paid for a payer, or nothing stands against it. */
export type SponsorRefusal = Omit<Refusal, 'payer'> | undefined;

/** Looks at what the payment would leave in its payer's accounts: one call to the chain. */
export type LookAtFunds = () => Promise<
  { readonly ok: true; readonly sight: Sight } | { readonly ok: false; readonly refusal: Omit<Refusal, 'payer'> }
>;

/** What became of a payment, as far as it matters to who has paid its fee. */
export type SponsoredEnd =
  | { readonly status: 'landed'; readonly slot: number }
  | { readonly status: 'failed' | 'expired' | 'unsent' };

/**
 * What we risk with payments whose network fee we pay: each is kept from when it is taken to when its outcome is known, with the
 * money that it moves and the fee that was counted for it. Every way out goes through `ended` or `drop`.
 */
export interface Sponsorship {
  /**
   * Whether anything is paid for this payer now. Asks no chain.
   * @throws TollhouseError `fee_limit_reached`
   */
  admit(inspected: InspectedPayment, purpose: PaymentPurpose | undefined): Promise<SponsorRefusal>;
  /**
   * Whether the payer's accounts hold the payment beside all that is on its way.
   * @param sight - what was seen already
   * @param keep - whether it is taken, and its money is on its way from now on
   */
  checkFunds(
    inspected: InspectedPayment,
    sight: Sight | undefined,
    look: LookAtFunds,
    keep: boolean,
  ): Promise<SponsorRefusal>;
  /**
   * Counts the fee, for what is to be signed at once. What was not taken before is taken now, without a look at the chain
   * unless other payments of its accounts are on their way, or four of which nobody has seen whose accounts they spend from.
   * @throws TollhouseError `fee_limit_reached`
   */
  begin(inspected: InspectedPayment, purpose: PaymentPurpose | undefined, look: LookAtFunds): Promise<SponsorRefusal>;
  /** It leaves now. */
  sent(id: string, signature: string): void;
  /** It was sent at another time, perhaps by another process, and may still land. */
  resumed(inspected: InspectedPayment, signature: string): void;
  /** Nobody works for it any more: unless it was sent, it is as if it had never been brought. */
  drop(id: string): void;
  /** The outcome; the first one counts. */
  ended(id: string, payer: string, end: SponsoredEnd): void;
}

/** What keeping it takes. */
export interface SponsorshipParts {
  readonly rpc: Pick<SolanaRpc, 'getSignatureStatuses'>;
  readonly feeLimit: FeeLimit;
  readonly standing: PayerStanding;
  readonly flight: MoneyInFlight;
  readonly window: SendWindow;
  /** Waits for the node to come as far as what has landed. Default: some 200 ms, a slot. */
  readonly pause?: () => Promise<unknown>;
}

interface Sponsored {
  /** The wallet and the accounts that it pays from. */
  readonly addresses: readonly string[];
  /** Who may empty them beside the payer, as far as the chain was looked at. */
  spenders: readonly string[];
  fee?: CountedFee | undefined;
  isSent: boolean;
  isOver: boolean;
}

const MAX_SPONSORED = 50_000;
/** An outcome that is learned later gives nothing back: the hour of its fee is over. */
const MEMORY_MS = 3_600_000;
/** After so many looks at accounts in which payments keep landing, the payer had better come again. */
const MAX_LOOKS = 20;
/** Whoever owns an account that nobody has looked at. */
const NOBODY_KNOWN = [UNKEYED];
const oneSlot = (): Promise<unknown> => setTimeout(200);

const CROWDED: Omit<Refusal, 'payer'> = {
  reason: 'insufficient_funds',
  message:
    'Other payments of this wallet are on their way, and with this one they come to more than it holds; nothing was charged. Pay again when they have landed.',
};

const TOO_MANY: Omit<Refusal, 'payer'> = {
  reason: 'payer_must_wait',
  message:
    'Too many payments of this wallet are on their way; nothing was charged. Send this one again when some have landed, in a few seconds.',
};

/** Makes it. Nothing is asked before the first payment. */
export function createSponsorship(parts: SponsorshipParts): Sponsorship {
  return new SponsoredPayments(parts);
}

class SponsoredPayments implements Sponsorship {
  readonly #parts: SponsorshipParts;
  readonly #landings: Landings;
  readonly #sponsored = boundedCache<string, Sponsored>({ max: MAX_SPONSORED, ttl: MEMORY_MS });

  constructor(parts: SponsorshipParts) {
    this.#parts = parts;
    this.#landings = createLandings(parts);
  }

  async admit(inspected: InspectedPayment, purpose: PaymentPurpose | undefined): Promise<SponsorRefusal> {
    const { standing, feeLimit } = this.#parts;
    const asked = standing.refusal(addressesOf(inspected));
    const waiting = isPending(asked) ? await asked : asked;
    if (waiting !== undefined) return waiting;
    const room = await feeLimit.reach(networkFeeOf(inspected.transaction), partiesOf(inspected, purpose));
    return room.ok ? undefined : room.refusal;
  }

  async checkFunds(
    inspected: InspectedPayment,
    first: Sight | undefined,
    look: LookAtFunds,
    keep: boolean,
  ): Promise<SponsorRefusal> {
    const { flight, pause = oneSlot } = this.#parts;
    const payment = spendingPayment(inspected);
    let sight = first;
    for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
      if (sight === undefined) {
        const seen = await look();
        if (!seen.ok) return seen.refusal;
        ({ sight } = seen);
      }
      // Nothing is waited for between the check and the taking: of payments at once, each sees those before it.
      if (flight.fits(payment, sight)) {
        if (keep) this.#take(inspected).spenders = flight.spendersOf(payment, sight);
        return undefined;
      }
      if (!flight.hasLandedSince(payment, sight)) await this.#landings.learn(payment);
      if (!flight.hasLandedSince(payment, sight)) return CROWDED;
      if (flight.hasLandedAfter(payment, sight)) await pause();
      sight = undefined;
    }
    return CROWDED;
  }

  async begin(
    inspected: InspectedPayment,
    purpose: PaymentPurpose | undefined,
    look: LookAtFunds,
  ): Promise<SponsorRefusal> {
    const { feeLimit, flight, standing } = this.#parts;
    const { transaction } = inspected;
    const isTaken = flight.has(transaction.messageHash);
    const refusal = isTaken ? undefined : await this.#takeUnseen(inspected, purpose, look);
    if (refusal !== undefined) return refusal;
    // Whatever was allowed before the wait may be so no longer.
    const parties = partiesOf(inspected, purpose);
    const entering = this.#enter(inspected, parties);
    if (isPending(entering) && !(await this.#landings.learnWhile(spendingPayment(inspected), entering))) {
      return (await standing.refusal(addressesOf(inspected))) ?? TOO_MANY;
    }
    const counted = await feeLimit.take(networkFeeOf(transaction), parties);
    if (!counted.ok) return counted.refusal;
    this.#take(inspected).fee = counted.fee;
    return undefined;
  }

  sent(id: string, signature: string): void {
    const found = this.#sponsored.get(id);
    if (found !== undefined) found.isSent = true;
    this.#parts.flight.sent(id, signature);
  }

  resumed(inspected: InspectedPayment, signature: string): void {
    this.#take(inspected).isSent = true;
    this.#parts.flight.sent(inspected.transaction.messageHash, signature);
  }

  drop(id: string): void {
    const found = this.#sponsored.get(id);
    if (found === undefined || found.isSent) return;
    found.fee?.giveBack();
    this.#sponsored.delete(id);
    this.#parts.flight.forget(id);
    this.#parts.window.leave(id);
  }

  ended(id: string, payer: string, end: SponsoredEnd): void {
    const { flight, standing, window } = this.#parts;
    const found = this.#sponsored.get(id);
    if (found?.isOver === true) return;
    // Each end is told of more than once; of one that is known by nobody here, only the failure counts.
    if (found === undefined && end.status !== 'failed') return;
    if (end.status === 'landed') flight.landed(id, end.slot);
    else flight.forget(id);
    if (end.status === 'expired' || end.status === 'unsent') found?.fee?.giveBack();
    this.#sponsored.delete(id);
    if (end.status === 'failed') {
      // What a delegate does must not keep the owner from what is his.
      const addresses = found?.spenders.includes(payer) ? found.addresses : [payer];
      found?.fee?.countTwice();
      void standing.failed(addresses);
      // It is told of more than once, and counts once.
      this.#sponsored.set(id, { addresses, spenders: [], isSent: true, isOver: true });
    }
    window.leave(id, end.status);
  }

  #take(inspected: InspectedPayment): Sponsored {
    const payment = spendingPayment(inspected);
    this.#parts.flight.take(payment);
    const found = this.#sponsored.get(payment.id);
    if (found !== undefined && !found.isOver) return found;
    // All fields from the start: objects that get theirs one by one are slower to read.
    const made = {
      addresses: addressesOf(inspected),
      spenders: [],
      fee: undefined,
      isSent: false,
      isOver: false,
    };
    this.#sponsored.set(payment.id, made);
    return made;
  }

  async #takeUnseen(
    inspected: InspectedPayment,
    purpose: PaymentPurpose | undefined,
    look: LookAtFunds,
  ): Promise<SponsorRefusal> {
    const { flight } = this.#parts;
    const refusal = await this.admit(inspected, purpose);
    if (refusal !== undefined) return refusal;
    const payment = spendingPayment(inspected);
    const known = flight.knownSpenders(payment);
    // One owner of many accounts empties them with one transaction, whoever signs for each.
    const isTaken = known === undefined ? this.#hasRoom(inspected, UNKEYED) : known.areAlone && !known.isStranger;
    if (!isTaken || flight.hasOthers(payment)) {
      // What was seen of an account says nothing of a stranger to it, whose payment must not stand in the way of its owner's.
      const seen = known?.isStranger === true ? undefined : flight.lastSight(payment);
      return this.checkFunds(inspected, seen, look, true);
    }
    this.#take(inspected).spenders = known?.owners ?? NOBODY_KNOWN;
    // At once: whoever comes at the same moment must see that it is taken.
    if (known === undefined) this.#enter(inspected, partiesOf(inspected, purpose));
    return undefined;
  }

  /** Whether it would have to wait for nobody in its payer's room, and in another. */
  #hasRoom({ payer, transaction }: InspectedPayment, other: string): boolean {
    const { window } = this.#parts;
    return [payer, other].every((it) => window.hasRoom(it, networkFeeOf(transaction)));
  }

  /** One transaction of an owner empties all of his accounts, whoever pays from them; one of a delegate those of many wallets. */
  #enter({ payer, transaction }: InspectedPayment, parties: FeeParties): ReturnType<SendWindow['enter']> {
    const [id, fee] = [transaction.messageHash, networkFeeOf(transaction)];
    const spenders = this.#sponsored.get(id)?.spenders ?? [];
    return this.#parts.window.enter({ id, payer, spenders, fee, isOperators: isOperators(parties) });
  }
}

function spendingPayment({ transaction, payer }: InspectedPayment): SpendingPayment {
  return { id: transaction.messageHash, payer, spending: spendingOf(transaction) };
}

function addressesOf({ payer, transaction }: InspectedPayment): readonly string[] {
  const addresses = [payer];
  for (const { account } of spendingOf(transaction)) if (!addresses.includes(account)) addresses.push(account);
  return addresses;
}

/** The operator's own routes have no seller, and say themselves whom they pay: they may use what the payers' shares leave them. */
function partiesOf({ payer, terms }: InspectedPayment, purpose: PaymentPurpose | undefined): FeeParties {
  const { seller, isPublic = false, paysAnybody = false } = purpose ?? {};
  if (seller === undefined) return { payer, isPublic, paysAnybody };
  return { payer, isPublic, paysAnybody, seller: seller.owner ?? terms.payTo };
}

function isOperators({ seller, isPublic, paysAnybody }: FeeParties): boolean {
  return seller === undefined && isPublic !== true && paysAnybody !== true;
}
