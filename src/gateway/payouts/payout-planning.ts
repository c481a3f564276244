import type { PayoutSender } from '../../facilitator/payouts/payout-sender.js';
import { groupBy } from '../../lib/group-by.js';
import {
  type HeldReason,
  MAX_PAYOUT_LEGS,
  type OwedAccount,
  type OwedSum,
  type PayoutRecord,
} from '../../storage/payouts/payout-store.js';
import { waitsFor } from './payout-minimum.js';
import { HOLD_MS, type PayoutWorkParts } from './payout-work.js';
import { paidUnknown } from './unknown-payouts.js';

/** Whether money is in a wallet that a sender pays from. */
export function isHeldBy({ network, wallet }: OwedAccount, sender: PayoutSender): boolean {
  return network === sender.network && sender.wallets.includes(wallet);
}

/**
 * Plans payouts of what one project owes, by token and by the wallet that holds it. Recipients who cannot receive are held back, and those are left out
 * who are owed too little.
 */
export async function planPayouts(parts: PayoutWorkParts, sums: readonly OwedSum[]): Promise<readonly PayoutRecord[]> {
  const time = parts.now();
  const payable = sums.filter((it) => isHeldBy(it, parts.sender) && waitsFor(it, parts, time) === undefined);
  const payouts: PayoutRecord[] = [];
  for (const sumsOfOne of groupBy(payable, ({ wallet, mint }) => `${wallet} ${mint}`).values()) {
    payouts.push(...(await planOne(parts, sumsOfOne)));
  }
  return payouts;
}

/** Of one token in one wallet. */
async function planOne(
  { book, sender, now, unknown }: PayoutWorkParts,
  sums: readonly OwedSum[],
): Promise<readonly PayoutRecord[]> {
  const [account] = sums;
  if (account === undefined) return [];
  const recipients = sums.map(({ recipient }) => recipient);
  const since = new Map(sums.map(({ recipient, oldestAt }) => [recipient, oldestAt]));
  const paid = paidUnknown(await unknown(account.wallet), account.mint, (it) => since.get(it));
  const faults = new Map<string, HeldReason>(await sender.faults(account.mint, recipients));
  for (const recipient of paid) faults.set(recipient, 'unknown_payout');
  for (const [recipient, reason] of faults) await book.hold(account, recipient, reason, now() + HOLD_MS);
  const able = sums.filter(({ recipient }) => !faults.has(recipient));
  const payouts: PayoutRecord[] = [];
  for (const group of groupsOf(able)) {
    const payout = await book.plan(account, group);
    if (payout !== undefined) payouts.push(payout);
  }
  return payouts;
}

/** Notes who waits until he is owed more, so that nobody need look at him again and again. */
export async function holdWaiting(parts: PayoutWorkParts, sums: readonly OwedSum[]): Promise<void> {
  const time = parts.now();
  for (const sum of sums) {
    const waits = waitsFor(sum, parts, time);
    if (waits === undefined) continue;
    await parts.book.hold(sum, sum.recipient, waits.held, waits.payableFrom ?? time + HOLD_MS);
  }
}

/** Recipients by payout. One to whom a transfer was refused before gets one of his own, so that he stops nobody else. */
function groupsOf(sums: readonly OwedSum[]): readonly (readonly string[])[] {
  const alone = sums.filter(({ held }) => held === 'transfer_refused').map(({ recipient }) => [recipient]);
  const together = sums.filter(({ held }) => held !== 'transfer_refused').map(({ recipient }) => recipient);
  const groups = Array.from({ length: Math.ceil(together.length / MAX_PAYOUT_LEGS) }, (_, index) =>
    together.slice(index * MAX_PAYOUT_LEGS, (index + 1) * MAX_PAYOUT_LEGS),
  );
  return [...groups, ...alone];
}
