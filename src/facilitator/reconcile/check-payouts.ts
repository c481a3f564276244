import type { NetworkId } from '../../protocol/types.js';
import type { SignatureState } from '../../solana/rpc/rpc.js';
import type { PaymentReader } from '../../storage/books/payment-reader.js';
import type { PayoutRecord } from '../../storage/payouts/payout-store.js';
import { type Findings, keyOf } from './finding.js';
import { type PaidOutParts, paidFault, shownState, statesOf } from './paid-out.js';

/** What checking payouts needs. */
export interface PayoutCheckParts extends PaidOutParts {
  readonly reader: Pick<PaymentReader, 'payouts'>;
  readonly network: NetworkId;
  /** Milliseconds since the epoch. */
  readonly from: number;
}

const AT_ONCE = 8;

const UNPAID = 'ask another node; if it does not know it either, its recipients were not paid';
const PAID = 'its recipients were paid: hold the payouts of this project back, what it paid is owed again';
const OTHERWISE = 'believe the transaction; hold the payouts of this project back until it is known what was changed';

/** Compares payouts with their transactions. Returns how many there were. */
export async function checkPayouts(parts: PayoutCheckParts, findings: Findings): Promise<number> {
  const seen = new Set<string>();
  let count = 0;
  for await (const all of parts.reader.payouts({ from: parts.from })) {
    const page = all.filter(({ network }) => network === parts.network);
    const states = await statesOf(parts, page);
    for (let at = 0; at < page.length; at += AT_ONCE) {
      const lot = page.slice(at, at + AT_ONCE);
      await Promise.all(lot.map((payout) => checkPayout(parts, payout, states.get(payout.id) ?? null, findings)));
    }
    for (const { id, signed } of page) {
      if (signed === undefined) continue;
      const key = keyOf(signed.signature);
      const detail = 'its transaction is that of another payout as well';
      if (seen.has(key)) findings.differs({ kind: 'payout', ids: [id, signed.signature], detail, advice: OTHERWISE });
      seen.add(key);
    }
    count += page.length;
  }
  return count;
}

async function checkPayout(
  parts: PayoutCheckParts,
  payout: PayoutRecord,
  state: SignatureState | null,
  findings: Findings,
): Promise<void> {
  const { id, signed, legs, total } = payout;
  const ids = signed === undefined ? [id] : [id, signed.signature];
  const differs = (detail: string, advice: string): void => findings.differs({ kind: 'payout', ids, detail, advice });
  const sum = legs.reduce((all, leg) => all + leg.amount, 0n);
  if (sum !== total) differs(`its total is ${total}, and its shares sum to ${sum}`, OTHERWISE);
  if (payout.state === 'created' || payout.state === 'broadcast') {
    const detail = `booked as ${payout.state}; ${shownState(state)}`;
    return findings.notes({ kind: 'payout', ids, detail, advice: 'a running service brings it to its end' });
  }
  if (payout.state === 'failed') {
    if (state?.err === null) differs(`booked as failed, and it has landed in slot ${state.slot}`, PAID);
    return;
  }
  const fault = await paidFault(parts, payout, state, 'split wallet');
  if (fault !== undefined) differs(fault, state?.err === null ? OTHERWISE : UNPAID);
}
