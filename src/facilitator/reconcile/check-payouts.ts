import { isSignature } from '../../protocol/address.js';
import type { NetworkId } from '../../protocol/types.js';
import { gainedBy } from '../../solana/landed/landed-money.js';
import type { LandedTransaction } from '../../solana/rpc/landed-transaction.js';
import type { SignatureState, SolanaRpc } from '../../solana/rpc/rpc.js';
import { readInstruction } from '../../solana/transaction/instructions.js';
import type { PaymentReader } from '../../storage/books/payment-reader.js';
import type { PayoutRecord } from '../../storage/payouts/payout-store.js';
import { type Findings, keyOf, mayBeSlotOf } from './finding.js';
import { withRetry } from './with-retry.js';

/** What checking payouts needs. */
export interface PayoutCheckParts {
  readonly rpc: Pick<SolanaRpc, 'getSignatureStatuses' | 'getTransaction'>;
  readonly reader: Pick<PaymentReader, 'payouts'>;
  readonly network: NetworkId;
  /** Whether the transactions are read too, at one call for each payout. */
  readonly amounts: boolean;
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
    const states = await payoutStates(parts, page);
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

/** What the chain says of the transactions of some payouts, by payout; history is searched. At most 256. */
export async function payoutStates(
  { rpc }: Pick<PayoutCheckParts, 'rpc'>,
  payouts: readonly PayoutRecord[],
): Promise<ReadonlyMap<string, SignatureState | null>> {
  const sent = payouts.flatMap(({ id, signed }) =>
    signed !== undefined && isSignature(signed.signature) ? [{ id, ...signed }] : [],
  );
  if (sent.length === 0) return new Map();
  const signatures = sent.map(({ signature }) => signature);
  const { states } = await withRetry(() => rpc.getSignatureStatuses(signatures, { searchHistory: true }));
  return new Map(sent.map(({ id }, at) => [id, states[at] ?? null]));
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
    const detail = `booked as ${payout.state}; ${shown(state)}`;
    return findings.notes({ kind: 'payout', ids, detail, advice: 'a running service brings it to its end' });
  }
  if (payout.state === 'failed') {
    if (state?.err === null) differs(`booked as failed, and it has landed in slot ${state.slot}`, PAID);
    return;
  }
  const fault = await paidFault(parts, payout, state);
  if (fault !== undefined) differs(fault, state?.err === null ? OTHERWISE : UNPAID);
}

function shown(state: SignatureState | null): string {
  if (state === null) return 'the chain does not know it';
  return state.err === null ? `it landed in slot ${state.slot}` : `it failed in slot ${state.slot}`;
}

async function paidFault(
  { rpc, amounts }: PayoutCheckParts,
  payout: PayoutRecord,
  state: SignatureState | null,
): Promise<string | undefined> {
  const { signed, slot } = payout;
  if (signed === undefined) return 'booked as paid, and it was never signed';
  if (state === null) return 'booked as paid, and the chain does not know it';
  if (state.err !== null) return 'booked as paid, and it failed on the chain';
  if (slot === undefined || !mayBeSlotOf(slot, state.slot))
    return `booked in slot ${slot ?? 'none'}, and it landed in slot ${state.slot}`;
  if (!amounts) return undefined;
  const landed = await withRetry(() => rpc.getTransaction(signed.signature, 'confirmed'));
  return landed === null ? 'booked as paid, and the chain cannot show it' : payoutFault(landed, payout);
}

/** What is wrong with the transaction of a payout: it says which one it is, and moves its shares and nothing else. */
function payoutFault(landed: LandedTransaction, { id, wallet, mint, legs, total }: PayoutRecord): string | undefined {
  const memo = Buffer.from(id);
  const isNamed = landed.instructions.map(readInstruction).some((it) => it.kind === 'memo' && memo.equals(it.data));
  if (!isNamed) return 'its transaction does not name it';
  const changes = new Map<string, bigint>([[wallet, -total]]);
  for (const { recipient, amount } of legs) changes.set(recipient, (changes.get(recipient) ?? 0n) + amount);
  for (const [address, change] of changes) {
    const gained = gainedBy(landed, address, mint);
    if (gained === undefined || gained === change) continue;
    return address === wallet
      ? `it is of ${total}, and the split wallet has lost ${-gained}`
      : `it pays ${change} to ${address}, who has got ${gained}`;
  }
  return undefined;
}
