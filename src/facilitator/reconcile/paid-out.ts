import { isSignature } from '../../protocol/address.js';
import type { Leg } from '../../protocol/money/split.js';
import { gainedBy } from '../../solana/landed/landed-money.js';
import type { LandedTransaction } from '../../solana/rpc/landed-transaction.js';
import type { SignatureState, SolanaRpc } from '../../solana/rpc/rpc.js';
import { readInstruction } from '../../solana/transaction/instructions.js';
import type { SignedPayout } from '../../storage/payouts/payout-store.js';
import { mayBeSlotOf } from './finding.js';
import { withRetry } from './with-retry.js';

/** What the books hold as sent from a wallet of ours by one transaction: a payout, or a refund. */
export interface PaidOut {
  /** The memo of its transaction. */
  readonly id: string;
  /** Base58. */
  readonly wallet: string;
  /** Base58. */
  readonly mint: string;
  readonly legs: readonly Leg[];
  /** Atomic units. */
  readonly total: bigint;
  readonly signed?: SignedPayout | undefined;
  /** Slot that it is booked in. */
  readonly slot?: number | undefined;
}

/** What looking at transactions of ours needs. */
export interface PaidOutParts {
  readonly rpc: Pick<SolanaRpc, 'getSignatureStatuses' | 'getTransaction'>;
  /** Whether the transactions are read too, at one call for each. */
  readonly amounts: boolean;
}

/** What the chain says of the transactions of some payouts or refunds, by id; history is searched. At most 256. */
export async function statesOf(
  { rpc }: Pick<PaidOutParts, 'rpc'>,
  all: readonly Pick<PaidOut, 'id' | 'signed'>[],
): Promise<ReadonlyMap<string, SignatureState | null>> {
  const sent = all.flatMap(({ id, signed }) =>
    signed !== undefined && isSignature(signed.signature) ? [{ id, ...signed }] : [],
  );
  if (sent.length === 0) return new Map();
  const signatures = sent.map(({ signature }) => signature);
  const { states } = await withRetry(() => rpc.getSignatureStatuses(signatures, { searchHistory: true }));
  return new Map(sent.map(({ id }, at) => [id, states[at] ?? null]));
}

/** A state as text. */
export function shownState(state: SignatureState | null): string {
  if (state === null) return 'the chain does not know it';
  return state.err === null ? `it landed in slot ${state.slot}` : `it failed in slot ${state.slot}`;
}

/**
 * What is wrong with something that is booked as paid, as a sentence; undefined when it has landed as it is booked.
 * @param walletName - what the wallet that pays is called
 */
export async function paidFault(
  { rpc, amounts }: PaidOutParts,
  sent: PaidOut,
  state: SignatureState | null,
  walletName: string,
): Promise<string | undefined> {
  const { signed, slot } = sent;
  if (signed === undefined) return 'booked as paid, and it was never signed';
  if (state === null) return 'booked as paid, and the chain does not know it';
  if (state.err !== null) return 'booked as paid, and it failed on the chain';
  if (slot === undefined || !mayBeSlotOf(slot, state.slot))
    return `booked in slot ${slot ?? 'none'}, and it landed in slot ${state.slot}`;
  if (!amounts) return undefined;
  const landed = await withRetry(() => rpc.getTransaction(signed.signature, 'confirmed'));
  return landed === null ? 'booked as paid, and the chain cannot show it' : movedFault(landed, sent, walletName);
}

/** Its transaction says which one it is, and moves its shares and nothing else. */
function movedFault(
  landed: LandedTransaction,
  { id, wallet, mint, legs, total }: PaidOut,
  walletName: string,
): string | undefined {
  if (!memosOf(landed).includes(id)) return 'its transaction does not name it';
  const changes = new Map<string, bigint>([[wallet, -total]]);
  for (const { recipient, amount } of legs) changes.set(recipient, (changes.get(recipient) ?? 0n) + amount);
  for (const [address, change] of changes) {
    const gained = gainedBy(landed, address, mint);
    if (gained === undefined || gained === change) continue;
    return address === wallet
      ? `it is of ${total}, and the ${walletName} has lost ${-gained}`
      : `it pays ${change} to ${address}, who has got ${gained}`;
  }
  return undefined;
}

/** The memos of a transaction, as text. */
export function memosOf(landed: LandedTransaction): readonly string[] {
  return landed.instructions
    .map(readInstruction)
    .flatMap((it) => (it.kind === 'memo' ? [Buffer.from(it.data).toString()] : []));
}
