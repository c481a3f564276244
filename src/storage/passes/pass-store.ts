import type { MaybePromise } from '../../lib/maybe-promise.js';
import type { EventRecord } from '../events/events.js';

/** What a pass is good for: a count of requests, a time, or an amount of a token. */
export type PassKind = 'uses' | 'until' | 'credit';

/** What a payment buys for more than one request. */
export interface PassPurchase {
  /** Who sold it: scheme and host of the site, where they are configured, the wallet that was paid, and a network of test money. */
  readonly site: string;
  /** What it covers there: a route, or a group of routes. */
  readonly scope: string;
  readonly kind: PassKind;
  /** Mint of the balance; for `credit` only. */
  readonly mint?: string;
  /** How much was bought: uses, or atomic units of the token. Missing for `until`. */
  readonly bought?: bigint;
  /** How much of it is left, once the paid request has had its part: a debit like others, named by the payment. */
  readonly left?: bigint;
  /** For how long it is good, from now on, in milliseconds. Default: for ever. */
  readonly lastsMs?: number;
  /**
   * How long it is still good behind its end, in milliseconds; with {@link lastsMs}, for `until`. Such a pass can be renewed: while it
   * is good, another purchase of the same wallet for the same site and scope makes no pass, but goes on from the end of this one.
   * Default: it cannot.
   */
  readonly graceMs?: number;
}

/** What the payment of a pass is named with that no payment has made: a wallet has it for what it holds. */
export const ALLOWANCE = 'allowance ';

/** What a payment has bought, and whose it is from then on. */
export interface NewPass extends PassPurchase {
  readonly id: string;
  /** The payment that made it: one payment makes one pass, or renews one. Begins with {@link ALLOWANCE} where there is none. */
  readonly paymentId: string;
  /** The wallet that has paid, base58. */
  readonly wallet: string;
  /** Wallet that hears of it, base58: the owner of its project, or who was paid. Default: nobody. */
  readonly owner?: string;
  /** The project that it was sold by, if any. */
  readonly projectId?: string;
}

/** A pass: a row with a balance. */
export interface Pass extends Omit<NewPass, 'lastsMs'> {
  /** Milliseconds since the epoch. */
  readonly openedAt: number;
  /** From when on it covers nothing: its end, and the grace behind that. Missing where it ends by use alone. */
  readonly endsAt?: number;
  readonly revokedAt?: number;
  /** How often its tokens were withdrawn: a token of an earlier number is good for nothing. */
  readonly serial: number;
  /** Why it is good for nothing any more; missing while it is good. */
  readonly over?: PassFault;
}

/** What is taken from a pass for a request. */
export interface Debit {
  readonly passId: string;
  /** Names the request: one request is debited once, however often that is asked for. */
  readonly requestId: string;
  /** Uses or atomic units, at least 1; of an {@link Adjustment} at least 0. */
  readonly amount: bigint;
  /** The number of the token that was shown. Default: none was, and any is good. */
  readonly serial?: number;
}

/** Why nothing was taken. `unknown`: there is no such pass, or it has no balance. */
export type PassFault = 'unknown' | 'revoked' | 'ended' | 'used_up';

/** What came of a debit. */
export type DebitResult =
  | {
      readonly ok: true;
      /** What is left of the pass. */
      readonly left: bigint;
      /** What the request had taken under this name before; then nothing more was taken. Missing where it is taken now. */
      readonly takenBefore?: bigint;
    }
  | { readonly ok: false; readonly fault: PassFault };

/** What a request that was debited is to have taken in the end. */
export type Adjustment = Omit<Debit, 'serial'>;

/** What came of an adjustment. `unknown`: the request has taken nothing, or was given it back. */
export type AdjustResult =
  | { readonly ok: true /** What is left of the pass. */; readonly left: bigint }
  | { readonly ok: false; readonly fault: PassFault };

/** Which ends of passes are told. */
export interface PassEnds {
  /** Those that are used up, once they have been so for this long, in milliseconds: a request under way may give its use back. */
  readonly usedUpForMs: number;
  /** How many at most. */
  readonly limit: number;
}

/** Whose passes are looked for, and for what. */
export interface PassQuery {
  readonly wallet: string;
  readonly site: string;
  readonly scope: string;
}

/**
 * Passes, each made by a payment. Every method is one atomic step. What is left of a pass, and what its requests have taken
 * and not been given back, is together what was bought, whatever happens to processes and however many there are. Rejects
 * with `store_unavailable` when the store cannot be reached.
 */
export interface PassStore {
  /**
   * Makes the pass of a payment, with the events that tell of it, or renews the one that it renews, without them; where that was done
   * before, answers what came of it. Each payment counts once, and of several at once each: the end is what was paid for, from the
   * beginning on.
   */
  open(pass: NewPass, events?: readonly EventRecord[]): Promise<Pass>;
  /**
   * Takes from the balance of a pass: all of the amount or nothing, and never what is not there. A store that need not wait for
   * anything answers at once, and the request goes on in the same turn.
   */
  debit(debit: Debit): MaybePromise<DebitResult>;
  /**
   * Makes what a request has taken another amount, from 0 on, which stands for the whole of it however often that is asked for:
   * what is less is given back, whatever became of the pass, and what is more is taken as {@link debit} takes it, all or nothing.
   */
  adjust(adjustment: Adjustment): Promise<AdjustResult>;
  /** What a request has taken, and was not given back; undefined where that is nothing. */
  taken(passId: string, requestId: string): Promise<bigint | undefined>;
  /**
   * Gives back what a request has taken; false where it has taken nothing, or was given it back.
   * @param forGood - nothing is taken under this name any more: a debit whose answer was lost may still be on its way. Default false: the
   *   request may take it again
   */
  giveBack(passId: string, requestId: string, forGood?: boolean): Promise<boolean>;
  /**
   * What a request has taken stays taken, and nobody will ask for it again: a store that has little room forgets it. Default: it
   * remembers what requests took for some time, whatever became of them.
   */
  spent?(passId: string, requestId: string): void;
  /** A pass by its id. */
  find(id: string): Promise<Pass | undefined>;
  /** The pass that a payment has made or renewed. */
  findByPayment(paymentId: string): Promise<Pass | undefined>;
  /** The passes of a wallet for something, those that last longest first, at most {@link MOST_PASSES}. */
  findFor(query: PassQuery): Promise<readonly Pass[]>;
  /** Of some scopes of a price ({@link PRICE_OF}) those in which some wallet has credit left; revoked credit is none. */
  priceScopes(asked: readonly string[]): Promise<readonly string[]>;
  /** All passes of a wallet, the newest first, at most {@link MOST_PASSES}. */
  list(wallet: string): Promise<readonly Pass[]>;
  /** Ends a pass; false where it was ended so before, or there is none. */
  revoke(id: string): Promise<boolean>;
  /** Ends all tokens of a pass that were given out so far; answers the number of those to come, undefined without a pass. */
  withdrawTokens(id: string): Promise<number | undefined>;
  /**
   * Tells passes that are used up or over by time, each once, whoever asks and whatever is given back to it later; revoked ones are
   * passed over. Call it until it answers fewer than the limit.
   * @param eventOf - the event that is written with it; undefined where nobody is to be told
   * @returns those that are told now
   */
  tellEnds(ends: PassEnds, eventOf: (pass: Pass) => EventRecord | undefined): Promise<readonly Pass[]>;
  /** The secret that tokens are signed with, 32 bytes, the same for all who share the store. */
  tokenSecret(): Promise<Uint8Array>;
}

/** How many passes are found at once. */
export const MOST_PASSES = 100;

/**
 * What the scope of credit begins with that covers the price of a route, and not what its passes cover: what was paid for a request
 * that failed.
 */
export const PRICE_OF = 'price of ';

/** What the paid request has taken of a pass; undefined where that is nothing. */
export function takenByPayment({
  bought = 0n,
  left = bought,
}: Pick<PassPurchase, 'bought' | 'left'>): bigint | undefined {
  return bought > left ? bought - left : undefined;
}

/** When a pass ends, as it was sold: without the grace behind that. Undefined where it ends by use alone. */
export function statedEnd({ endsAt, graceMs = 0 }: Pick<Pass, 'endsAt' | 'graceMs'>): number | undefined {
  return endsAt === undefined ? undefined : endsAt - graceMs;
}

/** Why a pass is good for nothing any more at a time; undefined while it is good. */
export function overBecause(pass: Pick<Pass, 'revokedAt' | 'endsAt' | 'left'>, now: number): PassFault | undefined {
  if (pass.revokedAt !== undefined) return 'revoked';
  if (pass.endsAt !== undefined && pass.endsAt <= now) return 'ended';
  return pass.left === 0n ? 'used_up' : undefined;
}
