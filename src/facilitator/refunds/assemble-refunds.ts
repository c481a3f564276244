import { badOption, TollhouseError } from '../../errors/errors.js';
import type { Token } from '../../protocol/types.js';
import { createSplitWallet } from '../../solana/building/payout-transaction.js';
import type { Storage } from '../../storage/storage.js';
import { createPayoutSender, type PayoutSenderParts } from '../payouts/payout-sender.js';
import { type RefundOptions, readRefundBounds } from './refund-options.js';
import { createRefunds, type RefundParts, type Refunds } from './refunds.js';

/** Options of a facilitator that refunds depend on. */
export interface RefundSetup {
  readonly refunds?: { readonly [K in keyof RefundOptions]-?: NonNullable<RefundOptions[K]> } | undefined;
  readonly storage?: Pick<Storage, 'refunds'> | undefined;
  readonly tokens: readonly Token[];
  /** Wallets that pay something else. */
  readonly splitWallets: PayoutSenderParts['splitWallets'] | undefined;
}

type RefundChain = Omit<PayoutSenderParts, 'splitWallets' | 'tokens'> &
  Pick<RefundParts, 'ledger' | 'passes' | 'events' | 'remembersSince' | 'remembersUntil' | 'now'>;

/**
 * Makes what pays back what payers are left with; where nothing does, it rejects with `not_configured`.
 * @param where - the function that was given the options, for messages
 * @throws TollhouseError `bad_option` when an option is wrong
 */
export function assembleRefunds(
  where: string,
  { refunds, storage, tokens, splitWallets: others }: RefundSetup,
  chain: RefundChain,
  { payoutMs }: { readonly payoutMs?: number },
): Pick<Refunds, 'refund'> & Partial<Refunds> {
  if (refunds === undefined) return { refund: refuse };
  if (storage === undefined) {
    throw badOption(where, 'option "refunds" needs option "storage", where they are written down', 'refunds');
  }
  const wallet = createSplitWallet(refunds.keypair, where, 'refunds.keypair');
  const isOther = chain.feePayers.has(wallet.address) || others?.some((it) => it.address === wallet.address) === true;
  if (isOther) throw badOption(where, 'option "refunds.keypair" must be a key that pays nothing else', 'refunds');
  const sender = createPayoutSender({ ...chain, tokens, splitWallets: [wallet], timeoutMs: payoutMs });
  return createRefunds({ ...chain, book: storage.refunds, sender, bounds: readRefundBounds(where, refunds, tokens) });
}

async function refuse(): Promise<never> {
  const detail =
    'Nothing is paid back here: createFacilitator was given no option "refunds", the key of the wallet that pays.';
  throw new TollhouseError('not_configured', detail);
}
