import { TollhouseError } from '../../errors/errors.js';
import { REASONS } from '../../protocol/reasons.js';
import type { Refusal } from '../../protocol/types.js';
import type { LandedTransaction } from '../../solana/rpc/landed-transaction.js';
import type { Ledger } from '../../storage/ledger/ledger.js';
import type { Suspensions } from '../../storage/owners/suspensions.js';
import type { Storage } from '../../storage/storage.js';
import type { SettlementBackend } from './backend.js';

const reason = 'wallet_suspended';

/**
 * A backend that takes no money from wallets which the operator has suspended, by the storage of its facilitator. What was sent before
 * is brought to its end, and what has landed stays paid.
 */
export function refuseSuspended(backend: SettlementBackend, storage: Storage | undefined): SettlementBackend {
  if (storage === undefined) return backend;
  const { suspensions } = storage.gateway;
  async function refusalOf(payer: string): Promise<Refusal | undefined> {
    const suspension = await suspensions.find('wallet', payer);
    return suspension && { reason, message: REASONS[reason], payer };
  }
  return {
    ...backend,
    async verify(inspected, purpose) {
      const refusal = await refusalOf(inspected.payer);
      return refusal === undefined ? backend.verify(inspected, purpose) : { ok: false, ...refusal };
    },
    // Asked again: it may have been suspended while its request was served.
    async settle(inspected, step) {
      const refusal = await refusalOf(inspected.payer);
      return refusal === undefined ? backend.settle(inspected, step) : { status: 'unsent', ...refusal };
    },
  };
}

/** What tells whether a wallet may pay. */
export interface PayerSuspensions {
  readonly ledger: Pick<Ledger, 'find'>;
  /** Default: nobody is suspended. */
  readonly suspensions?: Pick<Suspensions, 'find' | 'refuseWallet'> | undefined;
}

/**
 * Whether a wallet sent a transaction by itself while it was suspended: that pays for nothing here, and its money stays where it went.
 * What landed before counts, to the second, and so does what was sent from here.
 */
export async function isSentSuspended(
  { ledger, suspensions }: PayerSuspensions,
  payer: string,
  { blockTime, messageHash }: Pick<LandedTransaction, 'blockTime' | 'messageHash'>,
): Promise<boolean> {
  const suspension = await suspensions?.find('wallet', payer);
  if (suspension === undefined || (blockTime !== undefined && blockTime < suspension.at)) return false;
  // What was refused here as well may be in the books.
  const { state = 'claimed' } = (await ledger.find(messageHash)) ?? {};
  return state === 'claimed' || state === 'failed' || state === 'expired';
}

/**
 * For those who answer a refusal with a problem.
 * @throws TollhouseError `wallet_suspended` where that is why
 */
export function throwSuspended(refusal: Pick<Refusal, 'reason' | 'message'>): void {
  if (refusal.reason === reason) throw new TollhouseError(reason, refusal.message);
}
