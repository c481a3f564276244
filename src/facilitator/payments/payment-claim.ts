import type { Receipt, Settlement } from '../../protocol/types.js';
import type { Ledger, PaymentRecord } from '../../storage/ledger/ledger.js';
import type { Claim } from '../types.js';
import type { Leases } from './leases.js';
import { resourceOf } from './payment-binding.js';

/** What a claim is made of. */
export interface ClaimParts {
  readonly ledger: Pick<Ledger, 'forget' | 'keep' | 'runAgain' | 'served'>;
  readonly leases: Pick<Leases, 'drop' | 'finish' | 'isHeld'>;
  readonly record: PaymentRecord;
  readonly lease: string;
  readonly resumed: boolean;
  /** Set when the money has landed already. */
  readonly receipt: Receipt | undefined;
  /** Takes the money, and gives the payment back where it does not land. */
  settle(options: ClaimSettlement): Promise<Settlement>;
  /** Whether its transaction may have been sent. Default: it was, by whoever. */
  mayBeSent?(): boolean;
  /** Told when nobody works for the payment any more. */
  drop?(): void;
}

/** Options of {@link Claim.settle}, with their defaults. */
export interface ClaimSettlement {
  readonly served: boolean;
  readonly isWanted?: (() => Promise<boolean>) | undefined;
}

/**
 * A payment that this process holds. Whichever verb ends the claim also ends the lease. A class, as an object literal with getters would
 * give each payment a hidden class of its own, and whoever reads from it would look it up anew.
 */
class PaymentClaim implements Claim {
  readonly id: string;
  readonly lease: string;
  readonly payer: string;
  readonly terms: Claim['terms'];
  readonly resource: string;
  readonly resumed: boolean;
  declare readonly buys?: NonNullable<Claim['buys']>;
  readonly #parts: ClaimParts;
  #receipt: Receipt | undefined;
  /** The money is there, and nothing was given for it. */
  #isOwed: boolean;
  #settling: Promise<Settlement> | undefined;

  constructor(parts: ClaimParts) {
    const { record, lease, receipt, resumed } = parts;
    this.id = record.id;
    this.lease = lease;
    this.payer = record.payer;
    this.terms = record.terms;
    this.resource = resourceOf(record);
    this.resumed = resumed;
    if (record.buys !== undefined) this.buys = record.buys;
    this.#parts = parts;
    this.#receipt = receipt;
    this.#isOwed = receipt !== undefined;
  }

  get receipt(): Receipt | undefined {
    return this.#receipt;
  }

  get mayBeSent(): boolean {
    return this.#parts.mayBeSent?.() ?? true;
  }

  async settle({ served = false, isWanted }: Partial<ClaimSettlement> = {}): Promise<Settlement> {
    const receipt = this.#receipt;
    this.#settling ??=
      receipt === undefined ? this.#settleOnce({ served, isWanted }) : Promise.resolve({ status: 'settled', receipt });
    const settlement = await this.#settling;
    // Money that had landed before was written down as owed.
    if (served && this.#isOwed) await this.served();
    return settlement;
  }

  isHeld(): Promise<boolean> {
    return this.#parts.leases.isHeld(this.id, this.lease);
  }

  async forget(): Promise<void> {
    this.#over();
    await this.#parts.ledger.forget(this.id, this.lease);
  }

  async keep(): Promise<void> {
    this.#over();
    await this.#parts.ledger.keep(this.id, this.lease);
  }

  runAgain(): Promise<boolean> {
    return this.#parts.ledger.runAgain(this.id, this.lease);
  }

  async served(write?: () => Promise<unknown>): Promise<void> {
    const { leases, ledger } = this.#parts;
    this.#isOwed = false;
    await leases.finish(this.lease, write ?? (() => ledger.served(this.id, this.lease)));
  }

  async #settleOnce(options: ClaimSettlement): Promise<Settlement> {
    try {
      const settlement = await this.#parts.settle(options);
      if (settlement.status === 'settled') this.#receipt = settlement.receipt;
      this.#isOwed = settlement.status === 'settled' && !options.served;
      return settlement;
    } finally {
      if (!this.#isOwed) this.#over();
    }
  }

  #over(): void {
    this.#parts.leases.drop(this.lease);
    this.#parts.drop?.();
  }
}

/** Makes the claim to a payment that the ledger has given this process. */
export function createClaim(parts: ClaimParts): Claim {
  return new PaymentClaim(parts);
}

/** Lets go of a payment that was held to learn its outcome. One that nobody had brought by then is not to be known by that. */
export async function letGo(
  ledger: Pick<Ledger, 'forget' | 'keep'>,
  { id, state }: PaymentRecord,
  lease: string,
): Promise<void> {
  await (state === 'claimed' ? ledger.forget(id, lease) : ledger.keep(id, lease));
}
