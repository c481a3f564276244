import type { NetworkId } from '../../protocol/types.js';
import type { OfMoney } from '../sql/of-money.js';
import type { Charge, KeyedCaller } from './call-store.js';

/** A call that is to be paid from credit. */
export interface CreditRequest {
  readonly keyId: string;
  readonly projectId: string;
  /** What it costs. */
  readonly charge: Charge;
}

/** Credit that a call holds. */
export interface CreditHold {
  /** Names it in `finish` and `giveBack`. */
  readonly id: string;
  /** What is left beside it, in atomic units. */
  readonly left: bigint;
}

/** Whose credit is asked for: of all keys of a wallet, or of some of it. */
export interface CreditQuery extends OfMoney {
  /** Wallet whose keys they are, base58. */
  readonly owner: string;
  readonly keyId?: string;
  readonly projectId?: string;
}

/** The credit of a key at a project, in one token. What calls under way hold is in it. */
export interface CreditSum extends KeyedCaller {
  readonly projectId: string;
  /** Native SOL is among wrapped SOL. */
  readonly mint: string;
  /** The network of the project; missing where nothing is known of it. */
  readonly network?: NetworkId;
  /** Atomic units, more than none. */
  readonly amount: bigint;
}

/** How long credit is held for a call that is not heard of, in milliseconds. */
export const CREDIT_HOLD_MS = 600_000;

/**
 * Money that was paid for calls which bought nothing: it is the paying key's, at that project, and pays its next calls. It is
 * given, and used up, by the call that `CallStore.finish` writes. Rejects with `store_unavailable` when the database does
 * not answer.
 */
export interface CreditStore {
  /**
   * Holds what a call costs, whole or not at all. However many ask at once, on however many instances, no credit is held
   * twice. What a process that vanished held is taken into account.
   */
  hold(request: CreditRequest): Promise<CreditHold | undefined>;
  /** Holds it for {@link CREDIT_HOLD_MS} from now on: the call is under way. False when it was used up or given back. */
  extend(holdId: string): Promise<boolean>;
  /** The call cost nothing. */
  giveBack(holdId: string): Promise<void>;
  /** What credit there is, by key, project and token; at most 1,000 rows. */
  list(query: CreditQuery): Promise<readonly CreditSum[]>;
  /** What a project owes as credit to all of its callers: atomic units by mint. */
  owedBy(projectId: string): Promise<ReadonlyMap<string, bigint>>;
  /**
   * Gives back what calls hold that have not been heard of for {@link CREDIT_HOLD_MS}.
   * @param limit - how many at most
   * @returns how many
   */
  prune(limit: number): Promise<number>;
}
