import type { Claim } from '../../facilitator/types.js';
import type { CallEnd, PaidCall } from '../../gateway/calls/call-records.js';
import type { Gateway } from '../../gateway/gateway.js';
import type { TokenLabel } from '../../gateway/token-label.js';
import { CREDIT_HEADER } from '../../middleware/gate/pass-headers.js';
import { unchargedHeaders } from '../../middleware/passes/pass-end.js';
import type { Passes } from '../../middleware/passes/pass-types.js';
import { formatAmount } from '../../protocol/money/money.js';

/** A call whose money has landed, and the payment as it is held. */
export type HeldCall = PaidCall & { readonly claim: Claim };

/**
 * Writes that a paid call is not charged: what was paid is credit of its key, or the first use of the pass that it has bought is given
 * back. Returns the headers that tell of it; undefined, and nothing was left, where somebody else has the payment by now.
 */
export async function endUncharged(
  { calls }: Pick<Gateway, 'calls'>,
  passes: Pick<Passes, 'giveBack'>,
  paid: HeldCall,
  end: CallEnd,
): Promise<Readonly<Record<string, string>> | undefined> {
  const { claim, receipt, paidIn, passId } = paid;
  // First: what was bought is the payer's, whatever becomes of this process.
  if (passId !== undefined) await passes.giveBack(passId, claim.id);
  if (!(await calls.ended(paid, { ...end, charged: false })())) return undefined;
  return passId === undefined
    ? creditGiven(formatAmount(receipt.amount, paidIn.decimals), paidIn)
    : firstUseGiven(claim, paidIn);
}

/** What the call has taken of the pass that was bought with it is left of that again. */
function firstUseGiven({ buys, terms: { asset: mint } }: Claim, token: TokenLabel) {
  const { kind = 'until', bought = 0n, left = bought } = buys ?? {};
  return unchargedHeaders({ kind, mint, amount: bought - left }, [{ ...token, mint }]);
}

/** Tells of the credit that a call has left. */
export function creditGiven(amount: string, { symbol }: TokenLabel): Readonly<Record<string, string>> {
  return {
    [CREDIT_HEADER]: `${amount} ${symbol} was not charged for this call, and pays the next one of this key at this project`,
  };
}
