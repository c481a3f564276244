import { defined } from '../../lib/defined.js';
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

/** A payment that this process holds. Whichever verb ends the claim also ends the lease. */
export function createClaim({ ledger, leases, record, lease, receipt: landed, settle, ...own }: ClaimParts): Claim {
  const { id, payer, terms } = record;
  let receipt = landed;
  /** The money is there, and nothing was given for it. */
  let isOwed = landed !== undefined;
  let settling: Promise<Settlement> | undefined;

  async function settleOnce(options: ClaimSettlement): Promise<Settlement> {
    const { served } = options;
    try {
      const settlement = await settle(options);
      if (settlement.status === 'settled') receipt = settlement.receipt;
      isOwed = settlement.status === 'settled' && !served;
      return settlement;
    } finally {
      if (!isOwed) over();
    }
  }

  function over(): void {
    leases.drop(lease);
    own.drop?.();
  }

  async function useUp(write: () => Promise<unknown> = () => ledger.served(id, lease)): Promise<void> {
    isOwed = false;
    await leases.finish(lease, write);
  }

  return {
    id,
    lease,
    payer,
    terms,
    resource: resourceOf(record),
    resumed: own.resumed,
    get receipt() {
      return receipt;
    },
    get mayBeSent() {
      return own.mayBeSent?.() ?? true;
    },
    async settle({ served = false, isWanted } = {}) {
      settling ??=
        receipt === undefined ? settleOnce({ served, isWanted }) : Promise.resolve({ status: 'settled', receipt });
      const settlement = await settling;
      // Money that had landed before was written down as owed.
      if (served && isOwed) await useUp();
      return settlement;
    },
    isHeld: () => leases.isHeld(id, lease),
    async forget() {
      over();
      await ledger.forget(id, lease);
    },
    async keep() {
      over();
      await ledger.keep(id, lease);
    },
    runAgain: () => ledger.runAgain(id, lease),
    served: useUp,
    ...defined({ buys: record.buys }),
  };
}

/** Lets go of a payment that was held to learn its outcome. One that nobody had brought by then is not to be known by that. */
export async function letGo(
  ledger: Pick<Ledger, 'forget' | 'keep'>,
  { id, state }: PaymentRecord,
  lease: string,
): Promise<void> {
  await (state === 'claimed' ? ledger.forget(id, lease) : ledger.keep(id, lease));
}
