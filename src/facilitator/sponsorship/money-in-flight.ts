import type { LRUCache } from 'lru-cache';
import { boundedCache } from '../../lib/bounded-cache.js';
import { LEAST_LAMPORTS } from '../../solana/accounts/least-lamports.js';
import { type Delegation, type FundsAfter, nameOfDelegate, type TokenSpending } from './spending.js';

/** A payment whose fee we pay, as far as its payer's accounts know it. */
export interface SpendingPayment {
  readonly id: string;
  /** Who has signed it. Anybody can name anybody's account; the chain alone knows who may spend from it. */
  readonly payer: string;
  readonly spending: readonly TokenSpending[];
}

/** What the chain showed of a payer's accounts: of those that a payment spends from, once it is made. */
export interface Sight extends FundsAfter {
  /** Number of the look, from {@link MoneyInFlight.nextLook}: what was learned later may be missing in it. */
  readonly look: number;
  /** Slot that the node showed. */
  readonly slot: number;
}

/** What the chain showed, in the last hour, of those who may spend from the accounts of a payment. */
export interface KnownSpenders {
  readonly owners: readonly string[];
  /** Whether nobody had an allowance. */
  readonly areAlone: boolean;
  /** Whether its payer is neither an owner nor a delegate of each account. */
  readonly isStranger: boolean;
}

/**
 * The money of payers that is on its way: of payments whose network fee we pay, from when they are taken to when their outcome
 * is known. Payments of one account never come to more than the chain showed in it: all but one would land and fail, at our
 * cost. One process's own; instances that share a store each keep theirs.
 */
export interface MoneyInFlight {
  /** A number for a look at the chain, to be taken before it is asked. */
  nextLook(): number;
  /** What was seen lately, by whichever payment, with this one made as well; undefined where that is not known. */
  lastSight(payment: SpendingPayment): Sight | undefined;
  /** Whether the accounts hold the payment beside all that is on its way. */
  fits(payment: SpendingPayment, sight: Sight): boolean;
  /**
   * Names of those who could make the payment fail before it lands: the owners of its accounts, and delegates who may take more than is
   * left beside all that is on its way. Owners are named by their wallets, delegates apart from theirs.
   */
  spendersOf(payment: SpendingPayment, sight: Sight): readonly string[];
  /** Those who may spend from its accounts; undefined where that is not known. */
  knownSpenders(payment: SpendingPayment): KnownSpenders | undefined;
  /** Takes a payment; one that is taken already stays as it is. */
  take(payment: SpendingPayment): void;
  has(id: string): boolean;
  /** Whether other payments of the same accounts are on their way, or landed a moment ago. */
  hasOthers(payment: SpendingPayment): boolean;
  /** Signatures of others that were sent and are not known to have landed: id and signature. */
  sentOthers(payment: SpendingPayment): readonly (readonly [id: string, signature: string])[];
  /** Whether others are known to have landed which the sight need not show. */
  hasLandedSince(payment: SpendingPayment, sight: Sight): boolean;
  /** Whether one of them landed in a later slot than the sight is of. */
  hasLandedAfter(payment: SpendingPayment, sight: Sight): boolean;
  sent(id: string, signature: string): void;
  /** The money has left the account, in this slot or a little earlier. */
  landed(id: string, slot: number): void;
  /** It stays in the account: nothing was sent, or it failed, or it expired. */
  forget(id: string): void;
}

interface Entry extends SpendingPayment {
  signature?: string;
  /** Where it has landed: the slot, and the first look that can show it. */
  landing?: { readonly slot: number; readonly look: number };
  /** When it is of no more interest, by the clock. */
  endsAt: number;
}

/** What is known of one account. */
interface Account {
  readonly entries: Set<Entry>;
  /** The most that all of them take. */
  sum: bigint;
}

/** Who may spend from one account. */
interface Spenders {
  readonly owners: readonly string[];
  readonly delegates: readonly string[];
}

interface LastSight extends Omit<Sight, 'left'> {
  /** What was in the account, at least, before the payment that was looked at. */
  readonly held: bigint;
}

/** Longer than any blockhash lives: what has not landed by then never will. */
export const FLIGHT_MS = 180_000;
/** Longer than what was seen of an account is believed. */
const LANDED_MS = 60_000;
const SIGHT_MS = 10_000;
/** An owner can change with each transaction of the one before, who pays for that and has to sign it. */
const SPENDERS_MS = 3_600_000;
const MAX_PAYMENTS = 50_000;
const MAX_SIGHTS = 10_000;

/** @param now - clock in milliseconds, never going back */
export function createMoneyInFlight(now: () => number = () => performance.now()): MoneyInFlight {
  return new AccountsInFlight(now);
}

class AccountsInFlight implements MoneyInFlight {
  readonly #now: () => number;
  readonly #byAccount = new Map<string, Account>();
  readonly #entries = boundedCache<string, Entry>({ max: MAX_PAYMENTS, dispose: (entry) => this.#unlink(entry) });
  readonly #sights: LRUCache<string, LastSight>;
  readonly #spenders: LRUCache<string, Spenders>;
  #looks = 0;

  constructor(now: () => number) {
    this.#now = now;
    this.#sights = boundedCache({ max: MAX_SIGHTS, ttl: SIGHT_MS, ttlResolution: 0, perf: { now } });
    this.#spenders = boundedCache({ max: MAX_PAYMENTS, ttl: SPENDERS_MS, ttlResolution: 0, perf: { now } });
  }

  nextLook(): number {
    this.#looks += 1;
    return this.#looks;
  }

  lastSight({ spending }: SpendingPayment): Sight | undefined {
    const left = new Map<string, bigint>();
    let [look, slot] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    const owners: string[] = [];
    const delegates: Delegation[] = [];
    for (const { account, most } of spending) {
      const sight = this.#sights.get(account);
      if (sight === undefined || sight.held < most) return undefined;
      left.set(account, sight.held - most);
      look = Math.min(look, sight.look);
      slot = Math.min(slot, sight.slot);
      owners.push(...sight.owners);
      delegates.push(...sight.delegates);
    }
    return { look, slot, left, owners, delegates };
  }

  fits(payment: SpendingPayment, sight: Sight): boolean {
    this.#remember(payment, sight);
    return payment.spending.every((it) => this.#fitsAccount(it, payment.id, sight));
  }

  spendersOf({ id }: SpendingPayment, sight: Sight): readonly string[] {
    const spenders = [...sight.owners];
    for (const { account, delegate, allowance } of sight.delegates) {
      const left = (sight.left.get(account) ?? 0n) - this.#onTheWay(account, id, sight);
      if (left < allowance) spenders.push(nameOfDelegate(delegate));
    }
    return spenders;
  }

  knownSpenders({ spending, payer }: SpendingPayment): KnownSpenders | undefined {
    const owners: string[] = [];
    let [areAlone, isStranger] = [true, false];
    for (const { account } of spending) {
      const known = this.#spenders.get(account);
      if (known === undefined) return undefined;
      owners.push(...known.owners);
      areAlone &&= known.delegates.length === 0;
      isStranger ||= !known.owners.includes(payer) && !known.delegates.includes(payer);
    }
    return { owners, areAlone, isStranger };
  }

  take({ id, payer, spending }: SpendingPayment): void {
    if (this.has(id)) return;
    const entry: Entry = { id, payer, spending, endsAt: this.#now() + FLIGHT_MS };
    this.#entries.set(id, entry);
    for (const { account, most } of spending) {
      const all = this.#accountOf(account);
      all.entries.add(entry);
      all.sum += most;
    }
  }

  has(id: string): boolean {
    return (this.#entries.get(id)?.endsAt ?? Number.NEGATIVE_INFINITY) > this.#now();
  }

  hasOthers(payment: SpendingPayment): boolean {
    return payment.spending.some(({ account }) => this.#othersAt(account, payment.id).next().done !== true);
  }

  sentOthers(payment: SpendingPayment): readonly (readonly [id: string, signature: string])[] {
    return this.#othersOf(payment).flatMap(({ id, signature, landing }) =>
      signature === undefined || landing !== undefined ? [] : [[id, signature] as const],
    );
  }

  hasLandedSince(payment: SpendingPayment, sight: Sight): boolean {
    return this.#othersOf(payment).some((it) => it.landing !== undefined && !isShown(it, sight));
  }

  hasLandedAfter(payment: SpendingPayment, { slot }: Sight): boolean {
    return this.#othersOf(payment).some(({ landing }) => landing !== undefined && landing.slot > slot);
  }

  sent(id: string, signature: string): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) entry.signature = signature;
  }

  landed(id: string, slot: number): void {
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.landing !== undefined) return;
    entry.landing = { slot, look: this.#looks + 1 };
    entry.endsAt = this.#now() + LANDED_MS;
  }

  forget(id: string): void {
    this.#entries.delete(id);
  }

  #unlink(entry: Entry): void {
    for (const { account, most } of entry.spending) {
      const all = this.#accountOf(account);
      all.entries.delete(entry);
      all.sum -= most;
      if (all.entries.size === 0) this.#byAccount.delete(account);
    }
  }

  #accountOf(address: string): Account {
    const account = this.#byAccount.get(address) ?? { entries: new Set(), sum: 0n };
    this.#byAccount.set(address, account);
    return account;
  }

  /** Forgets on its way those that are of no more interest. */
  *#othersAt(account: string, id: string): Generator<Entry> {
    for (const it of this.#byAccount.get(account)?.entries ?? []) {
      if (it.endsAt <= this.#now()) this.#entries.delete(it.id);
      else if (it.id !== id) yield it;
    }
  }

  #othersOf({ id, spending }: SpendingPayment): readonly Entry[] {
    return [...new Set(spending.flatMap(({ account }) => [...this.#othersAt(account, id)]))];
  }

  #fitsAccount({ account, kind }: TokenSpending, id: string, sight: Sight): boolean {
    const left = sight.left.get(account);
    const least = kind === 'sol' ? LEAST_LAMPORTS : 0n;
    // A wallet with money for everything that was ever on its way need not be looked at closely.
    if (left !== undefined && left - (this.#byAccount.get(account)?.sum ?? 0n) >= least) return true;
    const onTheWay = this.#onTheWay(account, id, sight);
    if (onTheWay === 0n) return true;
    return left !== undefined && left - onTheWay >= least;
  }

  /** What others take from an account that was not seen to be gone yet. A stranger takes nothing: his payment fails. */
  #onTheWay(account: string, id: string, sight: Sight): bigint {
    let sum = 0n;
    for (const it of this.#othersAt(account, id)) {
      if (!isShown(it, sight) && maySpend(it, account, sight)) sum += mostOf(it, account);
    }
    return sum;
  }

  #remember({ spending }: SpendingPayment, { look, slot, left, owners, delegates }: Sight): void {
    for (const { account, least } of spending) {
      const rest = left.get(account);
      const isNewest = look >= (this.#sights.get(account)?.look ?? 0);
      if (rest === undefined || !isNewest) continue;
      this.#sights.set(account, { look, slot, held: rest + least, owners, delegates });
      const own = delegates.filter((it) => it.account === account);
      this.#spenders.set(account, { owners, delegates: own.map(({ delegate }) => delegate) });
    }
  }
}

/** Whether what was seen is without the money of a payment that has landed. In doubt it is not. */
function isShown({ landing }: Entry, { look, slot }: Sight): boolean {
  return landing !== undefined && landing.slot <= slot && landing.look <= look;
}

function maySpend({ payer }: SpendingPayment, account: string, { owners, delegates }: Sight): boolean {
  if (owners.length === 0 || owners.includes(payer)) return true;
  return delegates.some((it) => it.account === account && it.delegate === payer);
}

function mostOf({ spending }: SpendingPayment, account: string): bigint {
  return spending.find((it) => it.account === account)?.most ?? 0n;
}
